/** The paths of a text that an operator writes: flags and files. */
import { parseYamlFile } from '@outrigger/controller-manager';
import { parseClusterCidrs } from '@outrigger/controllers';
import { parseGoDuration } from '../../packages/controller-manager/src/flags/go-duration.ts';
import { parseRangeLines } from '../../packages/controllers/src/node-ipam/additional-ranges.ts';
import { parseGcfg } from '../../packages/provider-kit/src/config/gcfg.ts';
import { readCloudConfig } from '../../providers/openstack/src/config/read-cloud-config.ts';
import type { Target } from './target.ts';

const env = { env: {}, workingDirectory: '/nowhere', homeDirectory: '/nowhere' };

export const configTargets: readonly Target[] = [
  { name: 'duration', run: parseGoDuration },
  { name: 'ranges of the cluster', run: parseClusterCidrs },
  { name: 'file of additional ranges', run: parseRangeLines },
  { name: 'cloud.conf syntax', run: parseGcfg },
  { name: 'cloud.conf', run: (text) => readCloudConfig({ fileName: 'a', text }, env, () => {}) },
  // The library keeps an error for each character that is wrong.
  { name: 'YAML', scans: 30_000, run: (text) => parseYamlFile('a', text) },
];
