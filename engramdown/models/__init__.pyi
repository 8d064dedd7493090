from engramdown.models.ledger import OUTCOMES as OUTCOMES
from engramdown.models.ledger import Sum as Sum
from engramdown.models.ledger import sums as sums
