/** Nodes. No admission: unlike on a real cluster, a new node does not get the `not-ready` taint. */
import {
  isJsonObject,
  listAt,
  omitEmpty,
  sameJson,
  section,
  stringAt,
  valueAt,
  type NamedObject,
} from './api-object.ts';
import type { KindRules } from './kind-rules.ts';
import { labelKeyProblem, labelValueProblem } from './label-syntax.ts';
import {
  duplicateValue,
  forbiddenValue,
  invalidValue,
  requiredValue,
  unsupportedValue,
  type FieldError,
} from './status-error.ts';

const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The real server decodes into a struct and so writes these always. */
const NODE_INFO = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
];

function validateTaints(node: NamedObject): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, taint] of listAt(node, 'spec', 'taints').entries()) {
    const at = `metadata.taints[${i}]`;
    const key = stringAt(taint, 'key');
    const effect = stringAt(taint, 'effect');
    const keyProblem = labelKeyProblem(key);
    if (keyProblem) errors.push(invalidValue(`${at}.key`, key, keyProblem));
    const value = stringAt(taint, 'value');
    const valueProblem = labelValueProblem(value);
    if (valueProblem) errors.push(invalidValue(`${at}.value`, value, valueProblem));
    if (effect === '') errors.push(requiredValue(`${at}.effect`, ''));
    else if (!TAINT_EFFECTS.includes(effect)) errors.push(unsupportedValue(`${at}.effect`, effect, TAINT_EFFECTS));
    const identity = `${key}:${effect}`;
    if (seen.has(identity)) errors.push(duplicateValue(at, taint));
    seen.add(identity);
  }
  return errors;
}

function validateAddresses(node: NamedObject): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, address] of listAt(node, 'status', 'addresses').entries()) {
    const identity = JSON.stringify([stringAt(address, 'type'), stringAt(address, 'address')]);
    if (seen.has(identity)) errors.push(duplicateValue(`status.addresses[${i}]`, address));
    seen.add(identity);
  }
  return errors;
}

export const nodeRules: KindRules = {
  defaults: (node) => {
    const spec = section(node, 'spec');
    const cidrs = listAt(spec, 'podCIDRs');
    // The old field mirrors the first of the new one; a client may set either.
    if (cidrs.length === 0 && stringAt(spec, 'podCIDR') !== '') spec['podCIDRs'] = [spec['podCIDR']];
    else if (cidrs.length > 0) spec['podCIDR'] ??= cidrs[0];
    omitEmpty(spec, 'taints', 'podCIDR', 'podCIDRs', 'providerID', 'unschedulable');
    const status = section(node, 'status');
    omitEmpty(
      status,
      'addresses',
      'conditions',
      'images',
      'capacity',
      'allocatable',
      'volumesAttached',
      'volumesInUse',
    );
    const endpoints = section(status, 'daemonEndpoints');
    section(endpoints, 'kubeletEndpoint')['Port'] ??= 0;
    const info = section(status, 'nodeInfo');
    for (const field of NODE_INFO) info[field] ??= '';
  },
  validate: (node) => [...validateTaints(node), ...validateAddresses(node)],
  validateUpdate: (node, old) => {
    const errors: FieldError[] = [];
    const oldCidrs = listAt(old, 'spec', 'podCIDRs');
    if (oldCidrs.length > 0 && !sameJson(oldCidrs, valueAt(node, 'spec', 'podCIDRs') ?? [])) {
      errors.push(forbiddenValue('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
    }
    const oldId = stringAt(old, 'spec', 'providerID');
    if (oldId !== '' && oldId !== stringAt(node, 'spec', 'providerID')) {
      errors.push(forbiddenValue('spec.providerID', 'node updates may not change providerID except from "" to valid'));
    }
    if (!isJsonObject(node['spec'])) errors.push(requiredValue('spec', ''));
    return errors;
  },
};
