/** nova's metadata service, which each server reaches at one link-local address (nova user guide, "Metadata service"). */
import { CloudError, errorCodeOfStatus, type CallContext } from '@outrigger/cloud-provider';

const METADATA_URL = 'http://169.254.169.254/openstack/latest/meta_data.json';

/** Never through a proxy, which would be another machine, and never elsewhere by a redirect. */
export async function readMetadataService(call: CallContext, send: typeof fetch = fetch): Promise<string> {
  const operation = { name: 'GET /openstack/latest/meta_data.json', idempotent: true };
  const response = await call.call(operation, (signal) =>
    send(METADATA_URL, { signal: AbortSignal.any([signal, call.signal]), redirect: 'error' }),
  );
  const text = await response.text();
  if (response.status === 200) return text;
  const code = errorCodeOfStatus(Math.max(response.status, 400));
  throw new CloudError(code, `${METADATA_URL} answered ${response.status}`);
}
