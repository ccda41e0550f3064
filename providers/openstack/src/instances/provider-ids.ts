/** Which server a node stands for, by its provider ID or its name. */
import { CloudError, formatProviderID, parseProviderID, type NodeRef } from '@outrigger/cloud-provider';

export type AskedServer =
  | { readonly by: 'id'; readonly id: string }
  | { readonly by: 'name'; readonly name: string }
  /** Of another provider: nothing is known of it here. */
  | { readonly by: 'nothing' }
  /** Ours, and not to be answered here. */
  | { readonly by: 'error'; readonly error: CloudError };

export interface ProviderIDRules {
  /** The provider's name. */
  readonly name: string;
  /** The region that is asked. */
  readonly region: string | undefined;
}

const REST = /^([^/]*)\/([^/]+)$/;

/**
 * By ID where the node has one: `openstack:///<id>`, or `openstack://<region>/<id>` of the region that is asked. Another region's
 * is an error and never absence: its servers are not looked for here. What has no `://` has lost its prefix
 * (kubernetes/kubernetes#85731) and is read with it.
 */
export function askedServer({ name: nodeName, providerID }: NodeRef, { name, region }: ProviderIDRules): AskedServer {
  if (!providerID) return { by: 'name', name: nodeName };
  const whole = providerID.includes('://') ? providerID : `${name}://${providerID}`;
  if (!whole.startsWith(`${name}://`)) return { by: 'nothing' };
  const [, ofRegion = '', id = ''] = REST.exec(parseProviderID(whole, name) ?? '') ?? [];
  if (id === '') {
    const message = `node ${nodeName}: the provider ID ${providerID} is neither ${name}:///<id> nor ${name}://<region>/<id>`;
    return { by: 'error', error: new CloudError('invalid', message) };
  }
  if (ofRegion !== '' && ofRegion !== region) {
    const here = region === undefined ? 'the cloud config names no region' : `only region ${region} is asked`;
    const message = `node ${nodeName}: the provider ID ${providerID} is of region ${ofRegion}, and ${here}; the node is left as it is`;
    return { by: 'error', error: new CloudError('invalid', message) };
  }
  return { by: 'id', id };
}

/** The ID of the server, which the regions of a cloud have no two of; `undefined` in another's provider ID. */
export function serverIn(providerID: string, name: string): string | undefined {
  return REST.exec(parseProviderID(providerID, name) ?? '')?.[2];
}

/** What a node without a provider ID gets. `regional`: with the region in it, where it has a name. */
export function providerIDOf(id: string, { name, region = '' }: ProviderIDRules, regional: boolean): string {
  return formatProviderID(name, `${regional ? region : ''}/${id}`);
}
