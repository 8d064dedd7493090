from engramdown.storage.disk import Disk as Disk
from engramdown.storage.locks import FolderLock as FolderLock
from engramdown.storage.locks import ScopeLock as ScopeLock
from engramdown.storage.locks import one_call as one_call
from engramdown.storage.safe_open import closing as closing
from engramdown.storage.safe_open import make_folder as make_folder
from engramdown.storage.safe_open import open_regular as open_regular
from engramdown.storage.usage import Used as Used
