/** What a provider says it can do is checked when it says so, not when a controller first trips over it. */
import { CloudError, type Capabilities } from '@outrigger/cloud-provider';

const METHODS: Readonly<Record<keyof Capabilities, readonly string[]>> = {
  instances: ['lookUp', 'read'],
  loadBalancers: ['observe', 'plan', 'apply', 'listOwned'],
  routes: ['list', 'create', 'delete'],
  clusters: ['list', 'controlPlaneAddress'],
  volumes: ['lookUp'],
  podRanges: ['assign'],
  nodeTags: ['put'],
};
const BATCHED: ReadonlySet<string> = new Set(['instances', 'loadBalancers', 'routes', 'volumes', 'podRanges']);

/** Throws a `CloudError` `invalid` that names the member. */
export function checkCapabilities(provider: string, capabilities: unknown): asserts capabilities is Capabilities {
  if (typeof capabilities !== 'object' || capabilities === null) {
    throw new CloudError(
      'invalid',
      `the provider ${provider} returned no capabilities: open(host) must return an object`,
    );
  }
  for (const [name, methods] of Object.entries(METHODS)) {
    const capability = (capabilities as Record<string, unknown>)[name];
    if (capability === undefined) continue;
    const members =
      typeof capability === 'object' && capability !== null ? (capability as Record<string, unknown>) : {};
    for (const method of methods) {
      if (typeof members[method] !== 'function') {
        throw new CloudError('invalid', `the provider ${provider} has no method ${name}.${method}`);
      }
    }
    const { batchSize } = members;
    if (BATCHED.has(name) && batchSize !== undefined && !(Number.isInteger(batchSize) && (batchSize as number) >= 1)) {
      throw new CloudError('invalid', `the provider ${provider}: ${name}.batchSize must be a whole number above 0`);
    }
    if (name === 'loadBalancers') checkProof(provider, members);
    const { nextHop } = members;
    if (name === 'routes' && nextHop !== undefined && nextHop !== 'address' && nextHop !== 'instance') {
      throw new CloudError('invalid', `the provider ${provider}: routes.nextHop must be address or instance`);
    }
    if (name !== 'instances') continue;
    for (const method of ['changes', 'machineOf']) {
      if (members[method] === undefined || typeof members[method] === 'function') continue;
      throw new CloudError('invalid', `the provider ${provider}: instances.${method} must be a method`);
    }
  }
}

/** What a finalizer goes by: a misspelt word here must not be taken for another. */
function checkProof(provider: string, { consistency, namedByOwner, read }: Record<string, unknown>): void {
  const refuse = (what: string): CloudError =>
    new CloudError('invalid', `the provider ${provider}: loadBalancers.${what}`);
  if (consistency !== undefined && consistency !== 'strong' && consistency !== 'eventual') {
    throw refuse('consistency must be strong or eventual');
  }
  if (read !== undefined && typeof read !== 'function') throw refuse('read must be a method');
  if (namedByOwner === undefined) return;
  const isKinds = Array.isArray(namedByOwner) && namedByOwner.every((kind) => typeof kind === 'string');
  if (!isKinds) throw refuse('namedByOwner must be a list of kinds of parts');
  if (namedByOwner.length > 0 && read === undefined) throw refuse('namedByOwner needs the method read');
}
