/** Which of several providers serves which load balancer class: never two the same. */
import type { Capabilities } from '@outrigger/cloud-provider';

export class LoadBalancerClasses {
  readonly #servedBy = new Map<string, string>();
  readonly #conflicts = new Map<string, string>();

  /** What is wrong, in sentences; empty when no class is served twice. */
  get conflicts(): readonly string[] {
    return [...this.#conflicts.values()];
  }

  /**
   * The capabilities of this provider as they may be used. The first one to serve a class keeps it; another that serves it too has
   * no load balancers: of two that act on one Service, both would.
   */
  admit(provider: string, capabilities: Capabilities): Capabilities {
    for (const [name, owner] of this.#servedBy) if (owner === provider) this.#servedBy.delete(name);
    this.#conflicts.delete(provider);
    const classes = capabilities.loadBalancers?.classes ?? [];
    const taken = classes.find((name) => this.#servedBy.has(name));
    if (taken === undefined) {
      for (const name of classes) this.#servedBy.set(name, provider);
      return capabilities;
    }
    const other = this.#servedBy.get(taken) ?? '';
    this.#conflicts.set(
      provider,
      `the providers ${other} and ${provider} both serve the load balancer class ${taken}; configure one of them to leave it`,
    );
    return { ...capabilities, loadBalancers: undefined };
  }
}
