from engramdown.models.ledger import OUTCOMES as OUTCOMES
from engramdown.models.ledger import Sum as Sum
from engramdown.models.ledger import sums as sums
from engramdown.models.provider import TooLongError as TooLongError
from engramdown.models.provider import bound as bound
from engramdown.models.provider import is_address as is_address
from engramdown.models.provider import reason_of as reason_of
from engramdown.models.provider import refusal_of as refusal_of
