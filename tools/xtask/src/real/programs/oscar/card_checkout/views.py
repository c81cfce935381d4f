"""The payment step with oscar's form for bank cards and billing addresses, after oscar's documentation and its DataCash sandbox."""

from decimal import Decimal

from oscar.apps.checkout import views as oscar_views
from oscar.apps.payment import forms, models


class PaymentDetailsView(oscar_views.PaymentDetailsView):
    def get_context_data(self, **kwargs):
        context = super().get_context_data(**kwargs)
        context.setdefault("bankcard_form", kwargs.get("bankcard_form", forms.BankcardForm()))
        return context

    def post(self, request, *args, **kwargs):
        card = forms.BankcardForm(request.POST)
        if not card.is_valid():
            self.preview = False
            return self.render_to_response(self.get_context_data(bankcard_form=card))
        if request.POST.get("action", "") == "place_order":
            submission = self.build_submission()
            submission["payment_kwargs"]["bankcard"] = card.bankcard
            return self.submit(**submission)
        return self.render_preview(request, bankcard_form=card)

    def handle_payment(self, order_number, total, **kwargs):
        """Takes every card that passes oscar's checks, and notes its number's end as oscar does."""
        kind, _ = models.SourceType.objects.get_or_create(name="Card")
        card = kwargs["bankcard"]
        self.add_payment_source(models.Source(
            source_type=kind, currency=total.currency, amount_allocated=Decimal(total.incl_tax),
            amount_debited=Decimal(total.incl_tax), label=card.obfuscated_number))
        self.add_payment_event("Paid", total.incl_tax)
