"""Oscar's checkout with another payment step."""

from oscar.apps.checkout.apps import CheckoutConfig as OscarCheckout


class CheckoutConfig(OscarCheckout):
    name = "card_checkout"
