/** `make fake`: the fake cloud with three machines until Ctrl-C, and beside it the cloud config that leads to it. */
import { writeFile } from 'node:fs/promises';
import { addServer, startFakeCloud } from './fake-cloud.ts';

const NODES = ['node-1', 'node-2', 'node-3'];
const FILE = 'cloud.yaml';

const cloud = await startFakeCloud();
for (const name of NODES) addServer(cloud, name);
await writeFile(FILE, `endpoint: ${cloud.endpoint}\ntoken: ${cloud.token}\n`, { mode: 0o600 });
process.stdout.write(`${cloud.endpoint} with ${NODES.join(', ')}; ${FILE} leads to it. Until Ctrl-C.\n`);
