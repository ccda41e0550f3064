/** Tells people that an object is set aside, as `runController` does with one that holds the event loop. */
import type { EventRecorder, KubeObject } from '@outrigger/kube';

export function tellSetAside(
  store: { get(key: string): KubeObject | undefined },
  events: EventRecorder,
): (key: string, message: string) => void {
  return (key, message) => {
    const about = store.get(key);
    if (about) events.record(about, { type: 'Warning', reason: 'SetAside', message });
  };
}
