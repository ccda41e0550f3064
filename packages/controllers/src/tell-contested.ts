/** Tells people, once, that another writer sets a field of an object too, and which one it is. */
import type { KubeObject, ReconcileContext } from '@outrigger/kube';
import { CONTESTED_REASON, contestedNote, managerOf } from './contested-field.ts';
import type { ToldEvents } from './told-events.ts';

export interface ContestedField {
  /** As people are told: `status.loadBalancer`. */
  readonly field: string;
  /** As in fieldsV1: `['f:status', 'f:loadBalancer']`. */
  readonly path: readonly string[];
  /** Reads the object from the server: stores keep no managedFields. `undefined`: it is gone. */
  readonly read: () => Promise<KubeObject | undefined>;
}

/** Reads the object once, however often it is told. Rejects when the signal aborts. */
export async function tellContested(
  about: KubeObject,
  { field, path, read }: ContestedField,
  told: ToldEvents,
  { logger, signal }: Pick<ReconcileContext, 'logger' | 'signal'>,
): Promise<void> {
  if (told.wasTold(about, CONTESTED_REASON)) return;
  let manager: string | undefined;
  try {
    const object = await read();
    manager = object && managerOf(object, path);
  } catch (error) {
    signal.throwIfAborted();
    logger.verbose(2, 'Who else writes the field could not be read', { field, error });
  }
  const note = contestedNote(field, manager);
  if (told.tell(about, note)) logger.warn(note.message);
}
