import { listAt, section } from './api-object.ts';
import type { KindRules } from './kind-rules.ts';

/** Deleting a namespace only marks it: on a real cluster the namespace controller finishes the work through `finalize`. */
export const namespaceRules: KindRules = {
  name: 'label',
  prepareCreate: (namespace) => {
    const spec = section(namespace, 'spec');
    if (listAt(spec, 'finalizers').length === 0) spec['finalizers'] = ['kubernetes'];
    namespace['status'] = { phase: 'Active' };
    // Set on every namespace, so that policies can select by name.
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      'kubernetes.io/metadata.name': namespace.metadata.name ?? '',
    };
    return [];
  },
  prepareUpdate: (namespace, old) => {
    namespace['spec'] = old['spec'];
    return [];
  },
};
