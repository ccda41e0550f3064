/** Which machine of AWS a node is, by what the node says of itself. Pure. */
import { CloudError, parseProviderID, type NodeRef } from '@outrigger/cloud-provider';

export type AskedInstance =
  /** `zone`: as the provider ID has it, where it has one. */
  | { readonly by: 'id'; readonly id: string; readonly zone?: string }
  /** A node of Fargate, which is a network interface with this address. */
  | { readonly by: 'fargate'; readonly address: string }
  /** It has no provider ID yet, and no ID of an instance for a name. */
  | { readonly by: 'name'; readonly name: string }
  /** Another's, such as `eks-hybrid:///…`. */
  | { readonly by: 'nothing' }
  | { readonly by: 'error'; readonly error: Error };

/** 8 digits until 2016, 17 since. What has not this form EC2 cannot read, and refuses together with all others of a request. */
const INSTANCE_ID = /^i-(?:[\da-f]{8}|[\da-f]{17})$/u;

export function askedInstance(
  { name, providerID = '' }: Pick<NodeRef, 'name' | 'providerID'>,
  providerName: string,
): AskedInstance {
  if (providerID === '') {
    // Resource names: in subnets that are IPv6 only there are no others.
    const [label = ''] = name.split('.');
    return INSTANCE_ID.test(label) ? { by: 'id', id: label } : { by: 'name', name };
  }
  const isBare = !providerID.includes('://');
  const rest = isBare ? providerID : parseProviderID(providerID, providerName);
  if (rest === undefined) return { by: 'nothing' };
  // `/<zone>/<id>`: only the last segment counts, with whatever before it.
  const segments = rest.split('/');
  const id = segments.findLast((segment) => segment !== '') ?? '';
  if (INSTANCE_ID.test(id)) {
    const [, zone = '', last] = segments;
    return { by: 'id', id, ...(zone !== '' && last && { zone }) };
  }
  const address = fargateAddressIn(id);
  if (address !== undefined) return { by: 'fargate', address };
  const message = `the provider ID ${providerID} of node ${name} names no instance: it has to be ${providerName}:///<zone>/i-…`;
  return { by: 'error', error: new CloudError('invalid', message) };
}

/** The ID of the instance that a provider ID names; `undefined`: it names none. */
export function instanceIdIn(providerID: string | undefined, providerName: string): string | undefined {
  const asked = askedInstance({ name: '', providerID }, providerName);
  return asked.by === 'id' ? asked.id : undefined;
}

/** `10.0.1.2` of `ip-10-0-1-2` and `ip-10-0-1-2.eu-central-1.compute.internal`; `undefined` of other names. */
export function addressInName(name: string): string | undefined {
  const [, ...parts] = /^ip-(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})(?:\.|$)/u.exec(name) ?? [];
  const address = parts.join('.');
  return parts.length === 4 && parts.every((part) => Number(part) < 256) ? address : undefined;
}

/** Of the name of a node of Fargate, which ends its provider ID too: `fargate-ip-10-0-1-2.…`, or `fargate-10.0.1.2` in a VPC without DNS. */
export function fargateAddressIn(name: string): string | undefined {
  const [, text] = /^fargate-(.+)/u.exec(name) ?? [];
  return text && (addressInName(text) ?? (/^\d{1,3}(?:\.\d{1,3}){3}$/u.test(text) ? text : undefined));
}
