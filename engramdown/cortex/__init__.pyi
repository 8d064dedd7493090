from engramdown.cortex.tools import TOOLS as TOOLS
from engramdown.cortex.tools import Answer as Answer
