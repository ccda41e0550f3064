/** Events live once and are shown in two groups: core/v1 as they are stored, events.k8s.io/v1 with newer names. */
import { isJsonObject, section, stringAt, valueAt, type NamedObject } from './api-object.ts';
import type { KindRules } from './kind-rules.ts';
import { invalidValue } from './status-error.ts';

export const eventRules: KindRules = {
  createOnUpdate: true,
  defaults: (event) => {
    section(event, 'source');
    event['firstTimestamp'] ??= null;
    event['lastTimestamp'] ??= null;
    event['eventTime'] ??= null;
    event['reportingComponent'] ??= '';
    event['reportingInstance'] ??= '';
  },
  validate: (event) => {
    // Events of cluster-scoped objects live in `default` (or kube-system), those of others in the object's namespace.
    const involved = stringAt(event, 'involvedObject', 'namespace');
    const namespace = event.metadata.namespace ?? '';
    if (involved === '' ? namespace === 'default' || namespace === 'kube-system' : involved === namespace) return [];
    return [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')];
  },
};

const RENAMED: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

function rename(event: NamedObject, from: 0 | 1, apiVersion: string): NamedObject {
  const renamed: NamedObject = { ...event, apiVersion };
  for (const pair of RENAMED) {
    const value = event[pair[from]];
    delete renamed[pair[from]];
    if (value !== undefined) renamed[pair[1 - from] ?? ''] = value;
  }
  const series = valueAt(event, 'series');
  if (isJsonObject(series)) renamed['series'] = { ...series };
  return renamed;
}

export const eventsGroupFromCore = (event: NamedObject): NamedObject => rename(event, 0, 'events.k8s.io/v1');

export const eventsGroupToCore = (event: NamedObject): NamedObject => rename(event, 1, 'v1');
