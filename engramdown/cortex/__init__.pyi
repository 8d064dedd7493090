from engramdown.cortex.tools import TOOLS as TOOLS
from engramdown.cortex.tools import Answer as Answer
from engramdown.cortex.tools import Arguments as Arguments
from engramdown.cortex.tools import read_arguments as read_arguments
from engramdown.cortex.tools import schema_of as schema_of
