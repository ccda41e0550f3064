/** The calls of a kind of part that is a collection of a REST API. */
import type { CallContext, Owner } from '@outrigger/cloud-provider';
import type { RestCollection } from '../http/rest-collection.ts';
import type { Attributes, ListedPart, PartKind } from './part-kind.ts';

export interface RestPartCallsOptions<Thing> {
  readonly partOf: (thing: Thing) => ListedPart;
  /** What goes into the body so that the thing says its owner: `(owner) => ({ labels: tagsOf(owner) })`. */
  readonly ownerIn: (owner: Owner) => Attributes;
  /** Whether an owner can be written onto a thing that is there. Default: true. */
  readonly canClaim?: boolean;
}

/** Attributes are the body; with `PATCH`, those that differ. For a kind whose requests take effect later, or whose bodies differ, write the calls yourself. */
export function restPartCalls<Thing extends { readonly id: string }>(
  things: RestCollection<Thing>,
  { canClaim = true, ownerIn, partOf }: RestPartCallsOptions<Thing>,
): Pick<PartKind, 'claim' | 'create' | 'delete' | 'list' | 'read' | 'update'> {
  return {
    list: async (call) => (await things.list(call)).map(partOf),
    read: async (id, call) => partOf(await things.read(id, call)),
    create: async ({ attributes, owner }, call) => {
      const { id } = await things.create({ ...attributes, ...ownerIn(owner) }, call);
      return { id };
    },
    update: (id, { attributes, changed }, call) => {
      const part = Object.fromEntries(changed.map((name) => [name, attributes[name]]));
      return things.change(id, things.changesInPart ? part : attributes, call);
    },
    delete: (id, call) => things.delete(id, call),
    ...(canClaim && {
      claim: (id: string, owner: Owner, call: CallContext) => things.change(id, ownerIn(owner), call),
    }),
  };
}
