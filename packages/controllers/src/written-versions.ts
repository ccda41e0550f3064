/** Which version of each object we wrote last: a store that has not seen it yet must not be acted on, or the same is written twice. */
import type { KubeObject, ObjectMeta } from '@outrigger/kube';

interface Written {
  readonly uid: string | undefined;
  readonly version: bigint;
}

export class WrittenVersions {
  readonly #written = new Map<string, Written>();

  /** The server answered a write with this metadata. */
  note(key: string, { uid, resourceVersion }: ObjectMeta): void {
    const version = versionOf(resourceVersion);
    if (version !== undefined) this.#written.set(key, { uid, version });
  }

  /** Whether `object` is from before our last write. The watch will bring the newer one. */
  isBehind(key: string, object: KubeObject): boolean {
    const written = this.#written.get(key);
    if (!written) return false;
    const version = versionOf(object.metadata?.resourceVersion);
    return written.uid === object.metadata?.uid && version !== undefined && version < written.version;
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}

/** Versions of one kind can be compared as numbers (KEP-5504); what is no number is not compared. */
function versionOf(resourceVersion: string | undefined): bigint | undefined {
  return resourceVersion !== undefined && /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : undefined;
}
