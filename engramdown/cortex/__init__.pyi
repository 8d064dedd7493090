from engramdown.cortex.session import refuse_mid_turn as refuse_mid_turn
from engramdown.cortex.tools import TOOLS as TOOLS
from engramdown.cortex.tools import Answer as Answer
