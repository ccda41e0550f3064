/** What a request to the cloud has brought about, told from the request and its answer. Pure, so that the story can be tested. */

/** A request of the program, and how the memory cloud answered it. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Parsed; `undefined` when there was none. */
  readonly sent: unknown;
  readonly status: number;
  readonly answer: unknown;
}

/** What happened to whom. */
export interface Step {
  /** A node, or the Service. */
  readonly about: string;
  readonly text: string;
}

/** How the exchange's IDs are called in the story. */
export interface Names {
  /** The Service that has this UID. */
  serviceOf(uid: string): string;
  /** As it is before a request that deletes it is passed on. */
  partOf(partId: string): Part | undefined;
  /** The node of an instance. */
  nodeOf(instanceId: string): string;
  /** As it is before a request that deletes it is passed on. */
  routeOf(routeId: string): { readonly nodeName: string; readonly destination: string } | undefined;
}

interface Part {
  readonly kind: string;
  /** `uid`: of the Service that it is made for. */
  readonly tags: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Reads of what has changed nothing, and answers that are failures, are no part of the story. */
export function tellExchange({ answer, method, path, sent, status }: Exchange, names: Names): readonly Step[] {
  const operation = `${method} ${path}`;
  if (/^GET \/instances\/[^/]+$/u.test(operation) && status === 404) {
    const id = decodeURIComponent(path.split('/').at(-1) ?? '');
    return [{ about: names.nodeOf(id), text: `read by its own ID, the cloud says: there is no ${id}` }];
  }
  if (status >= 300) return [];
  if (operation === 'POST /instances:batchGet') return tellLookUp(sent, answer, names);
  if (operation === 'POST /routes:batchCreate') return tellNewRoutes(sent, answer);
  if (operation === 'POST /routes:batchDelete') {
    return (sent as { readonly ids: readonly string[] }).ids.flatMap((id) => {
      const route = names.routeOf(id);
      return route ? [{ about: route.nodeName, text: `route ${route.destination} deleted in the cloud` }] : [];
    });
  }
  if (operation === 'POST /parts') return tellPart(answer as Part, 'made', names);
  if (operation.startsWith('PUT /parts/')) return tellPart(answer as Part, 'changed', names);
  if (operation.startsWith('DELETE /parts/')) {
    const part = names.partOf(decodeURIComponent(path.split('/').at(-1) ?? ''));
    return part ? tellPart(part, 'deleted', names) : [];
  }
  return [];
}

function tellLookUp(sent: unknown, answer: unknown, names: Names): readonly Step[] {
  const { ids } = sent as { readonly ids: readonly string[] };
  const { instances } = answer as { readonly instances: readonly { readonly id: string; readonly name: string }[] };
  const together = `${instances.length} node${instances.length === 1 ? '' : 's'} in one look-up`;
  return [
    ...instances.map(({ name }) => ({ about: name, text: `instance found in the cloud, ${together}` })),
    ...ids
      .filter((id) => !instances.some((instance) => instance.id === id))
      .map((id) => ({ about: names.nodeOf(id), text: 'not listed by the cloud (inconclusive)' })),
  ];
}

function tellNewRoutes(sent: unknown, answer: unknown): readonly Step[] {
  const { routes } = sent as {
    readonly routes: readonly { readonly nodeName: string; readonly destination: string }[];
  };
  const { results } = answer as { readonly results: readonly { readonly kind: string }[] };
  return routes
    .filter((_, index) => results[index]?.kind === 'done')
    .map(({ destination, nodeName }) => ({ about: nodeName, text: `route ${destination} made in the cloud` }));
}

function tellPart(part: Part, what: string, names: Names): readonly Step[] {
  return [{ about: names.serviceOf(part.tags['uid'] ?? ''), text: `${describe(part)} ${what}` }];
}

function describe({ attributes, kind }: Part): string {
  const ports = attributes['ports'] as readonly { readonly port: number; readonly protocol: string }[] | undefined;
  const told = ports?.map(({ port, protocol }) => `${port}/${protocol}`).join(', ') ?? '';
  switch (kind) {
    case 'address':
      return `address ${String(attributes['ip'])}`;
    case 'load-balancer': {
      const backEnds = attributes['backEnds'] as readonly string[];
      return `load balancer ${told} to ${backEnds.map((id) => id.split('/').at(-1)).join(', ')}`;
    }
    case 'firewall':
      return `firewall for ${told}`;
    default:
      return `DNS record ${String(attributes['name'])}`;
  }
}
