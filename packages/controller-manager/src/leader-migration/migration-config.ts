/**
 * `LeaderMigrationConfiguration` (controllermanager.config.k8s.io): which controllers move between managers, and where each
 * of them runs. Upstream: k8s.io/controller-manager `config` and `pkg/leadermigration/config`.
 */
import type { YAMLMap } from 'yaml';
import { readFlagFile } from '../flags/flag-file.ts';
import { parseYamlFile, type YamlFile } from '../flags/yaml-file.ts';

/** Where a controller runs that takes part in a migration. */
export interface ControllerLeader {
  /** Of the controller, or an alias. */
  readonly name: string;
  /** The manager that runs it; `*`: whichever manager holds the migration lock. */
  readonly component: string;
  /** For messages: `migration.yaml:5: controllerLeaders[0]`. */
  readonly where: string;
}

export interface LeaderMigrationConfig {
  /** Name of the Lease under which the controllers run that are moved. */
  readonly leaderName: string;
  readonly controllerLeaders: readonly ControllerLeader[];
}

const API_GROUP = 'controllermanager.config.k8s.io';
const KIND = 'LeaderMigrationConfiguration';
/** The first two also say which kind of lock; there is one. */
const VERSIONS = ['v1alpha1', 'v1beta1', 'v1'] as const;
const LOCK = 'leases';

/** What upstream has without a file. The first two names are none of a controller that there is today: they are known as aliases. */
export const defaultMigrationConfig: LeaderMigrationConfig = {
  leaderName: 'cloud-provider-extraction-migration',
  controllerLeaders: ['route-controller', 'service-controller', 'cloud-node-lifecycle-controller'].map((name) => ({
    name,
    component: '*',
    where: 'the default configuration of leader migration',
  })),
};

/** Strict. Rejects with a `FlagError` that says file, line and key of what is wrong. */
export async function readMigrationConfig(path: string): Promise<LeaderMigrationConfig> {
  const file = await parseYamlFile(path, await readFlagFile('--leader-migration-config', path));
  const root = mappingOf(file, file.document.contents, 'the file');
  const version = VERSIONS.find((version) => root.get('apiVersion') === `${API_GROUP}/${version}`);
  if (version === undefined) {
    const known = VERSIONS.map((version) => `${API_GROUP}/${version}`).join(', ');
    throw file.refuse(root.get('apiVersion', true), `apiVersion must be one of ${known}`);
  }
  if (root.get('kind') !== KIND) throw file.refuse(root.get('kind', true), `kind must be ${KIND}`);
  const hasLock = version !== 'v1';
  checkKeys(file, root, '', [
    'apiVersion',
    'kind',
    'leaderName',
    'controllerLeaders',
    ...(hasLock ? ['resourceLock'] : []),
  ]);
  if (hasLock && root.get('resourceLock') !== LOCK) {
    throw file.refuse(root.get('resourceLock', true), `resourceLock must be ${LOCK}: there is no other lock any more`);
  }
  return { leaderName: textOf(file, root, 'leaderName', 'leaderName'), controllerLeaders: leadersOf(file, root, path) };
}

function leadersOf(file: YamlFile, root: YAMLMap, path: string): readonly ControllerLeader[] {
  const list = root.get('controllerLeaders', true) as unknown;
  if (list === undefined || (file.yaml.isScalar(list) && list.value === null)) return [];
  if (!file.yaml.isSeq(list)) throw file.refuse(list, 'controllerLeaders must be a list');
  return list.items.map((item, index) => {
    const at = `controllerLeaders[${index}]`;
    const leader = mappingOf(file, item, at);
    checkKeys(file, leader, `${at}.`, ['name', 'component']);
    return {
      name: textOf(file, leader, 'name', `${at}.name`),
      component: textOf(file, leader, 'component', `${at}.component`),
      where: `${path}:${file.lineOf(leader)}: ${at}.name`,
    };
  });
}

function mappingOf(file: YamlFile, node: unknown, what: string): YAMLMap {
  if (!file.yaml.isMap(node)) throw file.refuse(node, `${what} must be a mapping`);
  return node;
}

function checkKeys(file: YamlFile, map: YAMLMap, prefix: string, known: readonly string[]): void {
  for (const { key } of map.items) {
    const name = file.yaml.isScalar(key) ? String(key.value) : '';
    if (!known.includes(name)) throw file.refuse(key, `${prefix}${name}: unknown key; there are ${known.join(', ')}`);
  }
}

/** Not empty. */
function textOf(file: YamlFile, map: YAMLMap, key: string, where: string): string {
  const value: unknown = map.get(key);
  if (typeof value === 'string' && value !== '') return value;
  throw file.refuse(map.get(key, true) ?? map, `${where}: must be a string, not empty`);
}
