/** Container views: what is below a folder or a datacenter, read whole in pages. */
import type { CallContext } from '@outrigger/cloud-provider';
import { ListBound, xmlChild, xmlText, type XmlElement } from '@outrigger/provider-kit';
import { objectContents, referenceTo, type ObjectContent, type PropertySpec } from '../client/soap.ts';
import type { VimSession } from '../client/vim-client.ts';
import { MACHINE } from './machine-properties.ts';
import { SURROUNDINGS } from './surroundings.ts';
import type { ManagedObject } from './vcenter.ts';

export interface ReadViewOptions {
  /** No two types that one object may be of. */
  readonly specs: readonly PropertySpec[];
  /** What objects of a type in the view have in this property is read too. */
  readonly onward?: { readonly type: string; readonly path: string };
  /** An object beside those of the view. */
  readonly also?: ManagedObject;
  /** Most objects of one answer. Default: vCenter's own. */
  readonly pageSize?: number;
}

/** Machines and what is around them. Kept as long as the session, which ends it; it follows what comes and goes. */
export async function viewOf(session: VimSession, call: CallContext, container: ManagedObject): Promise<ManagedObject> {
  return session.own(`view of ${container.reference}`, () =>
    session.request(call, 'CreateContainerView', session.content.viewManager, {
      container: referenceTo(container),
      type: [MACHINE, ...SURROUNDINGS],
      recursive: true,
    }),
  );
}

export function filterSpec(
  view: ManagedObject,
  { also, onward, specs }: Omit<ReadViewOptions, 'pageSize'>,
): XmlElement {
  const selectSet: XmlElement = {
    '@xsi:type': 'TraversalSpec',
    name: 'view',
    type: 'ContainerView',
    path: 'view',
    skip: false,
    ...(onward && { selectSet: { '@xsi:type': 'TraversalSpec', ...onward, skip: false } }),
  };
  return {
    propSet: specs.map(({ paths, type }) => ({ type, pathSet: paths })),
    objectSet: [{ obj: referenceTo(view), skip: true, selectSet }, ...(also ? [{ obj: referenceTo(also) }] : [])],
  };
}

/** Every object of the view, a page at a time, or an error in the end. What goes while it is read is left out, as vCenter does. */
export async function* readView(
  session: VimSession,
  call: CallContext,
  view: ManagedObject,
  { pageSize, ...what }: ReadViewOptions,
): AsyncGenerator<readonly ObjectContent[], void> {
  using bound = new ListBound('vCenter: RetrievePropertiesEx');
  let answer = await session.retrieve(call, filterSpec(view, what), { maxObjects: pageSize });
  for (;;) {
    const objects = objectContents(answer);
    yield objects;
    const token = xmlText(xmlChild(answer, 'returnval', 'token'));
    if (token === undefined) return;
    bound.next(token, objects.length);
    // A page is given once.
    answer = await session.request(
      call,
      'ContinueRetrievePropertiesEx',
      session.content.propertyCollector,
      { token },
      { idempotent: false },
    );
  }
}
