/** Targets by group: hundreds of thousands, so they change in place and have no lag. */
import type { Clock } from '@outrigger/cloud-provider';

export interface Target {
  readonly id: string;
  readonly port: number;
  /** By the monotonic clock. */
  readonly since: number;
  /** Until when its connections drain; `undefined`: it is registered. */
  readonly drainsUntil: number | undefined;
}

export class TargetRegister {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Map<string, Target>>();
  readonly #health = new Map<string, 'healthy' | 'unhealthy'>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Draining ones too, until they are over. */
  of(groupId: string): readonly Target[] {
    const group = this.#groups.get(groupId);
    if (!group) return [];
    const now = this.#clock.monotonic();
    for (const [key, { drainsUntil }] of group) if (drainsUntil !== undefined && drainsUntil <= now) group.delete(key);
    return [...group.values()];
  }

  register(groupId: string, targets: readonly { readonly id: string; readonly port: number }[]): void {
    const group = this.#groups.get(groupId) ?? new Map<string, Target>();
    this.#groups.set(groupId, group);
    const since = this.#clock.monotonic();
    for (const { id, port } of targets) {
      const known = group.get(`${id}:${port}`);
      if (!known || known.drainsUntil !== undefined)
        group.set(`${id}:${port}`, { id, port, since, drainsUntil: undefined });
    }
  }

  /** Without a port all of that ID. What is not registered is passed over. */
  deregister(
    groupId: string,
    targets: readonly { readonly id: string; readonly port: number | undefined }[],
    drainMs: number,
  ): void {
    const group = this.#groups.get(groupId);
    const now = this.#clock.monotonic();
    for (const { id, port } of targets) {
      const keys =
        port === undefined
          ? [...(group?.values() ?? [])].filter((one) => one.id === id).map((one) => `${id}:${one.port}`)
          : [`${id}:${port}`];
      for (const key of keys) {
        const target = group?.get(key);
        if (!group || !target || target.drainsUntil !== undefined) continue;
        if (drainMs > 0) group.set(key, { ...target, drainsUntil: now + drainMs });
        else group.delete(key);
      }
    }
  }

  forget(groupId: string): void {
    this.#groups.delete(groupId);
  }

  /** What health checks find, of a target in all groups. */
  setHealth(id: string, health: 'healthy' | 'unhealthy'): void {
    this.#health.set(id, health);
  }

  healthOf(id: string): 'healthy' | 'unhealthy' {
    return this.#health.get(id) ?? 'healthy';
  }
}
