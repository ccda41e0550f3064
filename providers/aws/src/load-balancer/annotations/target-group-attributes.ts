/** Attributes of the target groups of an NLB. Pure. */
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { annotations } from './annotation-rows.ts';
import { keyValuesOf } from './key-values.ts';

const FLAG = /^(?:true|false)$/u;

interface AttributeRow {
  readonly form: RegExp;
  /** Of AWS, of targets that are instances: what it is set back to. */
  readonly usual: string;
}

/** cloud-provider-aws takes the first two alone. */
const attributes: Readonly<Record<string, AttributeRow>> = {
  'preserve_client_ip.enabled': { form: FLAG, usual: 'true' },
  'proxy_protocol_v2.enabled': { form: FLAG, usual: 'false' },
  'deregistration_delay.timeout_seconds': {
    form: /^(?:[0-9]|[1-9][0-9]{1,2}|[12][0-9]{3}|3[0-5][0-9]{2}|3600)$/u,
    usual: '300',
  },
  'deregistration_delay.connection_termination.enabled': { form: FLAG, usual: 'false' },
  'stickiness.enabled': { form: FLAG, usual: 'false' },
  'stickiness.type': { form: /^source_ip$/u, usual: 'source_ip' },
  'load_balancing.cross_zone.enabled': {
    form: /^(?:true|false|use_load_balancer_configuration)$/u,
    usual: 'use_load_balancer_configuration',
  },
};

/** All of them, with what the annotation says in place of AWS's defaults. Throws `invalid`. */
export function targetGroupAttributesOf(
  { ports }: Pick<LoadBalancerService, 'ports'>,
  text: string | undefined,
): Readonly<Record<string, string>> {
  const refuse = (why: string): never => annotations.refuse('targetGroupAttributes', `${text}`, why);
  const given = keyValuesOf(text);
  for (const [key, value] of given) {
    const row = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
    if (!row) refuse(`it has no attribute ${key}; these can be set: ${Object.keys(attributes).join(', ')}`);
    else if (!row.form.test(value)) refuse(`${key} cannot be ${value === '' ? 'empty' : value}`);
  }
  if (given.get('preserve_client_ip.enabled') === 'false' && ports.some(({ protocol }) => protocol === 'UDP')) {
    refuse('preserve_client_ip.enabled cannot be false with UDP ports');
  }
  return Object.fromEntries(Object.entries(attributes).map(([key, { usual }]) => [key, given.get(key) ?? usual]));
}
