/** What all of neutron's resources have alike: the list, the one, and its tags. */
import { Refusal } from '../fake-http.ts';
import type { RouteTable } from '../route-table.ts';
import type { StandardAttributes } from './collection.ts';
import { listItems, type ListOptions } from './list-query.ts';

export interface ResourceOptions<T extends StandardAttributes> extends ListOptions<T> {
  /** `floatingip`: the key in an answer about one. */
  readonly singular: string;
}

/** `GET` of the list and of the one, and the tags: `PUT …/tags`, `PUT` and `DELETE …/tags/{tag}`. */
export function addResourceRoutes<T extends StandardAttributes>(routes: RouteTable, options: ResourceOptions<T>): void {
  const { plural, singular, collection, view } = options;
  const root = `/v2.0/${plural}`;
  const tagged = (id: string, tags: readonly string[]): T => collection.change(id, { tags } as Partial<T>);
  routes
    .on(`GET ${root}`, ({ request, caller }) => listItems(options, request, caller))
    .on(`GET ${root}/{id}`, ({ params, caller }) => {
      const item = collection.visible(params['id'] ?? '', caller);
      return { status: 200, body: { [singular]: view ? view(item) : item } };
    })
    .on(`GET ${root}/{id}/tags`, ({ params, caller }) => {
      return { status: 200, body: { tags: collection.visible(params['id'] ?? '', caller).tags } };
    })
    .on(`PUT ${root}/{id}/tags`, ({ request, params, caller }) => {
      const item = collection.visible(params['id'] ?? '', caller);
      collection.checkRevision(item, request);
      const tags = [...new Set((request.body as { tags: string[] }).tags)].sort();
      return { status: 200, body: { tags: tagged(item.id, tags).tags } };
    })
    .on(`PUT ${root}/{id}/tags/{tag}`, ({ params, caller }) => {
      const item = collection.visible(params['id'] ?? '', caller);
      tagged(item.id, [...new Set([...item.tags, params['tag'] ?? ''])].sort());
      return { status: 201, body: null };
    })
    .on(`DELETE ${root}/{id}/tags/{tag}`, ({ params, caller }) => {
      const item = collection.visible(params['id'] ?? '', caller);
      const tag = params['tag'] ?? '';
      if (!item.tags.includes(tag)) {
        throw new Refusal({
          status: 404,
          body: { NeutronError: { type: 'TagNotFound', message: `Tag ${tag} could not be found.`, detail: '' } },
        });
      }
      tagged(
        item.id,
        item.tags.filter((each) => each !== tag),
      );
      return { status: 204 };
    });
}
