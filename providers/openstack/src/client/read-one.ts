/** One thing by its ID, out of the answer that holds it. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient, ServiceType } from './api-client.ts';
import { itemKeyOf, operation } from './operation.ts';

/** Of a collection, such as `['network', '/v2.0/ports']`. Throws `unavailable` for an answer without it. */
export async function readOne<T>(
  client: ApiClient,
  [service, path]: readonly [ServiceType, `/${string}`],
  id: string,
  call: CallContext,
): Promise<T> {
  const request = operation(service, `GET ${path}/{id}`, id);
  const thing = (await client.request<Readonly<Record<string, T>>>(call, request))[itemKeyOf(path)];
  // That is no word about it, and least of all that it is gone.
  if (!thing) throw new CloudError('unavailable', `${request.operation}: the answer names nothing`);
  return thing;
}

/** `undefined` where the service itself says that there is none. */
export async function readIfThere<T>(...asked: Parameters<typeof readOne>): Promise<T | undefined> {
  try {
    return await readOne<T>(...asked);
  } catch (error) {
    if (isCloudError(error, 'not-found')) return undefined;
    throw error;
  }
}
