/** Services: defaults, cluster IPs and node ports, as far as kubectl and controllers see them. */
import { isJsonObject, listAt, omitEmpty, section, stringAt, type JsonObject, type NamedObject } from './api-object.ts';
import type { KindRules, RuleContext } from './kind-rules.ts';
import {
  duplicateValue,
  forbiddenValue,
  invalidValue,
  requiredValue,
  unsupportedValue,
  type FieldError,
} from './status-error.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

const ports = (service: NamedObject): JsonObject[] => listAt(service, 'spec', 'ports').filter(isJsonObject);

const exposesNodes = (type: unknown): boolean => type === 'NodePort' || type === 'LoadBalancer';

const wantsNodePorts = (spec: JsonObject): boolean =>
  spec['type'] === 'NodePort' || (spec['type'] === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false);

const headless = (spec: JsonObject): boolean => spec['clusterIP'] === 'None';

function allocate(service: NamedObject, { allocator }: RuleContext): FieldError[] {
  const spec = section(service, 'spec');
  const errors: FieldError[] = [];
  if (spec['type'] !== 'ExternalName') {
    const families = listAt(spec, 'ipFamilies') as readonly ('IPv4' | 'IPv6')[];
    const asked = listAt(spec, 'clusterIPs').filter((address) => typeof address === 'string');
    if (headless(spec)) spec['clusterIPs'] = ['None'];
    else {
      const first = stringAt(spec, 'clusterIP') || asked[0];
      const wanted = first === undefined ? [] : [first, ...asked.slice(1)];
      const addresses = families.map((family, i) => wanted[i] ?? allocator.clusterIp(family));
      for (const address of wanted) {
        if (!allocator.claimClusterIp(address)) {
          errors.push(
            invalidValue('spec.clusterIPs', [address], 'failed to allocate IP: provided IP is already allocated'),
          );
        }
      }
      spec['clusterIP'] = addresses[0];
      spec['clusterIPs'] = addresses;
    }
  }
  if (wantsNodePorts(spec)) {
    for (const [i, port] of ports(service).entries()) {
      if (typeof port['nodePort'] === 'number' && port['nodePort'] !== 0) {
        if (!allocator.claimNodePort(port['nodePort'])) {
          errors.push(
            invalidValue(`spec.ports[${i}].nodePort`, port['nodePort'], 'provided port is already allocated'),
          );
        }
      } else port['nodePort'] = allocator.nodePort();
    }
  }
  if (spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local') {
    spec['healthCheckNodePort'] = spec['healthCheckNodePort'] || allocator.nodePort();
  }
  return errors;
}

function nodePorts(service: NamedObject): number[] {
  const health = section(service, 'spec')['healthCheckNodePort'];
  return [...ports(service).map((port) => port['nodePort']), health].filter((port) => typeof port === 'number');
}

const clusterIps = (service: NamedObject): string[] =>
  listAt(service, 'spec', 'clusterIPs').filter((address) => typeof address === 'string');

export const serviceRules: KindRules = {
  name: 'service',
  createOnUpdate: true,
  statusOnCreate: 'drop',
  defaults: (service) => {
    const spec = section(service, 'spec');
    const type = (spec['type'] ??= 'ClusterIP');
    spec['sessionAffinity'] ??= 'None';
    for (const port of ports(service)) {
      port['protocol'] ??= 'TCP';
      port['targetPort'] ??= port['port'];
      if (port['nodePort'] === 0) delete port['nodePort'];
    }
    if (type !== 'ExternalName') {
      spec['internalTrafficPolicy'] ??= 'Cluster';
      const dual = spec['ipFamilyPolicy'] === 'RequireDualStack' || spec['ipFamilyPolicy'] === 'PreferDualStack';
      spec['ipFamilyPolicy'] ??= 'SingleStack';
      if (listAt(spec, 'ipFamilies').length === 0) spec['ipFamilies'] = dual ? ['IPv4', 'IPv6'] : ['IPv4'];
    }
    if (exposesNodes(type)) spec['externalTrafficPolicy'] ??= 'Cluster';
    if (type === 'LoadBalancer') spec['allocateLoadBalancerNodePorts'] ??= true;
    omitEmpty(
      spec,
      'selector',
      'externalIPs',
      'loadBalancerSourceRanges',
      'ports',
      'loadBalancerIP',
      'healthCheckNodePort',
    );
    section(section(service, 'status'), 'loadBalancer');
    omitEmpty(section(section(service, 'status'), 'loadBalancer'), 'ingress');
    omitEmpty(service['status'], 'conditions');
  },
  prepareCreate: allocate,
  prepareUpdate: (service, old, context) => {
    const spec = section(service, 'spec');
    const oldSpec = section(old, 'spec');
    // What the server gave stays, also when a client replaces the object without it.
    if (spec['type'] !== 'ExternalName' && oldSpec['type'] !== 'ExternalName') {
      spec['clusterIP'] ??= oldSpec['clusterIP'];
      spec['clusterIPs'] ??= oldSpec['clusterIPs'];
    }
    if (exposesNodes(spec['type'])) {
      for (const port of ports(service)) {
        const before = ports(old).find((p) => p['port'] === port['port'] && p['protocol'] === port['protocol']);
        if (before?.['nodePort'] !== undefined) port['nodePort'] ??= before['nodePort'];
      }
      if (spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local') {
        spec['healthCheckNodePort'] ??= oldSpec['healthCheckNodePort'];
      }
    } else if (exposesNodes(oldSpec['type'])) {
      // Leaving the type takes its fields along when the client did not change them.
      for (const port of ports(service)) {
        if (ports(old).some((p) => p['nodePort'] === port['nodePort'])) delete port['nodePort'];
      }
      delete spec['externalTrafficPolicy'];
      delete spec['healthCheckNodePort'];
    }
    if (spec['type'] !== 'LoadBalancer') {
      delete spec['allocateLoadBalancerNodePorts'];
      delete spec['loadBalancerClass'];
      if (oldSpec['type'] === 'LoadBalancer') service['status'] = { loadBalancer: {} };
    }
    if (spec['externalTrafficPolicy'] !== 'Local') delete spec['healthCheckNodePort'];
    context.allocator.release(clusterIps(old), nodePorts(old));
    const errors = allocate(service, context);
    if (errors.length > 0) {
      // The old object stays, and so does what it holds.
      for (const address of clusterIps(old)) context.allocator.claimClusterIp(address);
      for (const port of nodePorts(old)) context.allocator.claimNodePort(port);
    }
    return errors;
  },
  validate: (service) => {
    const errors: FieldError[] = [];
    const type = stringAt(service, 'spec', 'type');
    if (!TYPES.includes(type)) errors.push(unsupportedValue('spec.type', type, TYPES));
    const list = ports(service);
    if (list.length === 0 && type !== 'ExternalName' && stringAt(service, 'spec', 'clusterIP') !== 'None') {
      errors.push(requiredValue('spec.ports', ''));
    }
    const seen = new Set<string>();
    for (const [i, port] of list.entries()) {
      const number = port['port'];
      if (typeof number !== 'number' || number < 1 || number > 65_535) {
        errors.push(invalidValue(`spec.ports[${i}].port`, number ?? 0, 'must be between 1 and 65535, inclusive'));
      }
      if (!PROTOCOLS.includes(String(port['protocol']))) {
        errors.push(unsupportedValue(`spec.ports[${i}].protocol`, port['protocol'], PROTOCOLS));
      }
      if (list.length > 1 && stringAt(port, 'name') === '') errors.push(requiredValue(`spec.ports[${i}].name`, ''));
      const identity = `${String(port['protocol'])}/${String(number)}`;
      if (seen.has(identity))
        errors.push(duplicateValue(`spec.ports[${i}]`, { protocol: port['protocol'], port: number }));
      seen.add(identity);
    }
    return errors;
  },
  validateUpdate: (service, old) => {
    const before = stringAt(old, 'spec', 'clusterIP');
    const after = stringAt(service, 'spec', 'clusterIP');
    const errors: FieldError[] = [];
    const external = [service, old].some((object) => stringAt(object, 'spec', 'type') === 'ExternalName');
    if (before !== '' && before !== after && !external) {
      errors.push(invalidValue('spec.clusterIPs[0]', [after], 'may not change once set'));
    }
    const loadBalancer = [service, old].every((object) => stringAt(object, 'spec', 'type') === 'LoadBalancer');
    const classes = [service, old].map((object) => stringAt(object, 'spec', 'loadBalancerClass'));
    if (loadBalancer && classes[0] !== classes[1]) {
      errors.push(forbiddenValue('spec.loadBalancerClass', 'may not change once set'));
    }
    return errors;
  },
  released: (service, { allocator }) => allocator.release(clusterIps(service), nodePorts(service)),
};
