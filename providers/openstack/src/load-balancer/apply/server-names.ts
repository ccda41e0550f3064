/** What nova calls a server, and whether a node is called so. Entry points: `namesOfServer`, `isCalled`. */
import { isCloudError, type CallContext } from '@outrigger/cloud-provider';
import { isHttpError } from '@outrigger/provider-kit';
import type { ApiClient } from '../../client/api-client.ts';
import { compareMicroversions } from '../../client/microversion.ts';
import { operation } from '../../client/operation.ts';
import type { Server } from '../../instances/server.ts';

/** From here on nova shows the host name of a server to its project, and lets the project choose it. */
const WITH_HOST_NAME = '2.90';

type NamedServer = Pick<Server, 'name'> & { readonly 'OS-EXT-SRV-ATTR:hostname'?: string };

/**
 * Its name first. None: nova says that there is no such server. `undefined`: nova does not say now what this server is called. Throws where nova
 * tells of no server.
 */
export async function namesOfServer(
  client: ApiClient,
  id: string,
  call: CallContext,
): Promise<readonly string[] | undefined> {
  const max = await client.maxMicroversion(call, 'compute');
  // Below 2.69 a server of a cell that nova cannot reach is a 500.
  const microversion = max !== undefined && compareMicroversions(max, WITH_HOST_NAME) < 0 ? max : WITH_HOST_NAME;
  const request = { ...operation('compute', 'GET /servers/{id}', id), ...(max !== undefined && { microversion }) };
  try {
    const { server } = await client.request<{ readonly server?: NamedServer }>(call, request);
    // Of a server in a cell that it cannot reach, nova says no name.
    if (server?.name === undefined) return undefined;
    const { name, 'OS-EXT-SRV-ATTR:hostname': hostName } = server;
    return hostName ? [name, hostName] : [name];
  } catch (error) {
    if (isCloudError(error, 'not-found')) return [];
    if (!isHttpError(error, 500)) throw error;
    // Of a nova that does not reach its own database, each server is a 500, and the list too.
    await client.request(call, { ...operation('compute', 'GET /servers/detail'), query: [['limit', '1']] });
    return undefined;
  }
}

/** But for the case of letters, what nova leaves out of host names, and a domain that one of them has. */
export function isCalled(serverNames: readonly string[], nodeName: string): boolean {
  const node = nodeName.toLowerCase();
  return serverNames
    .flatMap(hostNames)
    .some((server) => server === node || server.startsWith(`${node}.`) || node.startsWith(`${server}.`));
}

/** As it is, and as nova makes a host name of it (`sanitize_hostname` in nova/utils.py); older ones leave dots in. */
function hostNames(name: string): readonly string[] {
  const dashed = (text: string): string => text.toLowerCase().replaceAll(/[ _]/gu, '-');
  const cut = dashed(name.replaceAll(/[\u{100}-\u{10FFFF}]/gu, '').slice(0, 63))
    .replaceAll(/[^\p{L}\p{N}.-]/gu, '')
    .replaceAll(/^[.-]+|[.-]+$/gu, '');
  return [dashed(name), cut, cut.replaceAll('.', '-')];
}
