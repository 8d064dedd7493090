from engramdown.integrations.chat.endpoint import Reply as Reply
from engramdown.integrations.chat.turns import Chat as Chat
from engramdown.integrations.chat.turns import Listener as Listener
