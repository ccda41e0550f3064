/** Most of a kind that a project may have. */
import { neutronRefusal } from './neutron-error.ts';

export type QuotaResource =
  | 'network'
  | 'subnet'
  | 'port'
  | 'router'
  | 'floatingip'
  | 'security_group'
  | 'security_group_rule';

export class Quotas {
  /** Default: none, as the lab's. */
  limits: Readonly<Partial<Record<QuotaResource, number>>> = {};

  /** Throws 409 where `used` and `more` together are above the limit. */
  check(resource: QuotaResource, used: number, more = 1): void {
    const limit = this.limits[resource];
    if (limit === undefined || used + more <= limit) return;
    throw neutronRefusal(409, 'OverQuota', `Quota exceeded for resources: ['${resource}'].`);
  }
}
