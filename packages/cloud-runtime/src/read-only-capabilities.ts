/** What a provider can do, without what changes anything: the last barrier of a dry run. */
import { CloudError, type Capabilities } from '@outrigger/cloud-provider';

/**
 * The members of the contract that only read, or only compute. Everything else is refused, also what the contract gets later
 * and nobody has thought of here.
 */
const READS: Readonly<Record<keyof Capabilities, readonly string[]>> = {
  instances: ['lookUp', 'read', 'machineOf', 'changes'],
  loadBalancers: ['lockKey', 'selectBackEnds', 'validate', 'observe', 'read', 'plan', 'planMembers', 'listOwned'],
  routes: ['list'],
  clusters: ['list', 'controlPlaneAddress'],
  volumes: ['lookUp'],
  podRanges: [],
  nodeTags: [],
};

/** By original: a capability that stays the same object stays the same here too. */
export type ReadOnlyViews = WeakMap<object, object>;

/** `onRefused` hears of each call that was refused. A refused call throws a `CloudError` `unsupported`. */
export function readOnlyCapabilities(
  capabilities: Capabilities,
  views: ReadOnlyViews,
  onRefused: (what: string) => void,
): Capabilities {
  const entries = Object.entries(capabilities).map(([name, capability]: [string, object | undefined]) => {
    const reads = READS[name as keyof Capabilities] ?? [];
    return [name, capability && viewOf(capability, { name, reads, views, onRefused })] as const;
  });
  return Object.fromEntries(entries) as Capabilities;
}

interface ViewOptions {
  readonly name: string;
  readonly reads: readonly string[];
  readonly views: ReadOnlyViews;
  readonly onRefused: (what: string) => void;
}

function viewOf(capability: object, { name, reads, views, onRefused }: ViewOptions): object {
  const known = views.get(capability);
  if (known) return known;
  const methods = new Map<PropertyKey, unknown>();
  // Over an object of its own: a proxy of a frozen one would have to give out its methods as they are.
  const view: object = new Proxy(Object.create(null) as object, {
    has: (_, key) => key in capability,
    get: (_, key) => {
      const member: unknown = Reflect.get(capability, key, capability);
      if (typeof member !== 'function') return member;
      let method = methods.get(key);
      if (!method) {
        // Bound: a class's private members are not the proxy's.
        method = reads.includes(String(key)) ? (member.bind(capability) as unknown) : refuse(`${name}.${String(key)}`);
        methods.set(key, method);
      }
      return method;
    },
  });
  views.set(capability, view);
  return view;

  function refuse(what: string): () => Promise<never> {
    return () => {
      onRefused(what);
      const text = `${what} is not called: this program only reads (--dry-run)`;
      return Promise.reject(new CloudError('unsupported', text));
    };
  }
}
