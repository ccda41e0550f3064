/** `make fake`: the fake cloud with three machines until Ctrl-C, and beside it the cloud config that leads to it. */
import { writeFile } from 'node:fs/promises';
import { systemClock } from '@outrigger/kube';
import { addServer, configOf, startFake } from './fake-cloud.ts';

const NODES = ['node-1', 'node-2', 'node-3'];

const cloud = await startFake(systemClock);
for (const name of NODES) addServer(cloud, name);
const { fileName, text } = configOf(cloud.endpoint);
await writeFile(fileName, text, { mode: 0o600 });
process.stdout.write(`${cloud.endpoint} with ${NODES.join(', ')}; ${fileName} leads to it. Until Ctrl-C.\n`);
