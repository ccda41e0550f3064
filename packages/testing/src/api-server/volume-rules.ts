import { listAt, section, valueAt } from './api-object.ts';
import type { KindRules } from './kind-rules.ts';
import { requiredValue, type FieldError } from './status-error.ts';

export const volumeRules: KindRules = {
  statusOnCreate: 'drop',
  defaults: (volume) => {
    const spec = section(volume, 'spec');
    spec['persistentVolumeReclaimPolicy'] ??= 'Retain';
    spec['volumeMode'] ??= 'Filesystem';
  },
  prepareCreate: (volume, { now }) => {
    volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: now };
    // What the admission plugin StorageObjectInUseProtection does.
    volume.metadata.finalizers = [...new Set([...(volume.metadata.finalizers ?? []), 'kubernetes.io/pv-protection'])];
    return [];
  },
  validate: (volume) => {
    const errors: FieldError[] = [];
    if (listAt(volume, 'spec', 'accessModes').length === 0) errors.push(requiredValue('spec.accessModes', ''));
    if (valueAt(volume, 'spec', 'capacity') === undefined) errors.push(requiredValue('spec.capacity', ''));
    return errors;
  },
};
