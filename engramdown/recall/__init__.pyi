from engramdown.recall.finder import Finder as Finder
from engramdown.recall.memories import MemoryIndex as MemoryIndex
from engramdown.recall.query import Hit as Hit
