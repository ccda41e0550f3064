import type { CallContext, ProviderHost } from '@outrigger/cloud-provider';
import { GroupCommit, type SharedObjects } from './index.ts';

interface FirewallRule {
  readonly name: string;
  readonly port: number;
}
type Rules = readonly FirewallRule[];

/** One firewall for all Services of the cluster: a write carries the rules of all that wait. */
export class SharedFirewall {
  readonly #rules: GroupCommit<Rules>;
  readonly #id: string;

  constructor(id: string, objects: SharedObjects<Rules>, host: ProviderHost) {
    this.#id = id;
    this.#rules = new GroupCommit({ host, objects });
  }

  /** In `apply`, for one Service. */
  async open(name: string, port: number, call: CallContext): Promise<void> {
    const others = (rules: Rules): Rules => rules.filter((rule) => rule.name !== name);
    await this.#rules.change(this.#id, (rules) => [...others(rules), { name, port }], call);
  }
}
