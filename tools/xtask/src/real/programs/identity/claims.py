"""The claims about a user, as the toolkit's documentation adds them."""

from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):
    oidc_claim_scope = None

    def get_additional_claims(self, request):
        return {"email": request.user.email, "preferred_username": request.user.username}
