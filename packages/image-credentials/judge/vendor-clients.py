"""What Google's and Azure's own Python clients ask for: one step by name, against the URLs of the environment. Prints what it was given."""
import json
import sys


def gcr_node():
    from google.auth.compute_engine import Credentials
    from google.auth.transport.requests import Request

    credentials = Credentials(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    credentials.refresh(Request())
    return credentials.token


def gcr_pod(url, audience, token_file, service_account):
    from google.auth.identity_pool import Credentials
    from google.auth.transport.requests import Request

    account = f"{url}/v1/projects/-/serviceAccounts/{service_account}:generateAccessToken"
    credentials = Credentials(
        audience=audience,
        subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        token_url=f"{url}/v1/token",
        credential_source={"file": token_file},
        service_account_impersonation_url=account if service_account else None,
        scopes=["https://www.googleapis.com/auth/cloud-platform"],
    )
    credentials.refresh(Request())
    return credentials.token


def acr_node(client_id):
    from azure.identity import ManagedIdentityCredential

    return ManagedIdentityCredential(client_id=client_id).get_token("https://containerregistry.azure.net/.default").token


def acr_exchange(url, service, access_token):
    from azure.containerregistry._exchange_client import ACRExchangeClient
    from azure.core.credentials import AccessToken

    class Given:
        def get_token(self, *_scopes, **_options):
            return AccessToken(access_token, 2**31)

    client = ACRExchangeClient(url, Given(), credential_scopes=["https://containerregistry.azure.net/.default"])
    return client.exchange_aad_token_for_refresh_token(service)


STEPS = {f.__name__.replace("_", "-"): f for f in (gcr_node, gcr_pod, acr_node, acr_exchange)}
print(json.dumps(STEPS[sys.argv[1]](*sys.argv[2:])))
