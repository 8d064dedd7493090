from engramdown.integrations.agents_md import BLOCK_BUDGET as BLOCK_BUDGET
from engramdown.integrations.agents_md import Change as Change
from engramdown.integrations.agents_md import page as page
from engramdown.integrations.agents_md import read as read
from engramdown.integrations.agents_md import write as write
