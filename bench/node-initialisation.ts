/**
 * `make bench`: how fast nodes become initialised on a real control plane, by the floor, by Outrigger with its default
 * flags and by upstream's framework, in turn within one run, because only their ratios mean anything on a shared machine. Fails when an aim is missed.
 *
 *     node bench/node-initialisation.ts [--nodes=100,1000,5000] [--rounds=3] [--arrivals=300] [--json=FILE]
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureArrivals, type ArrivalsMeasurement } from './arrivals.ts';
import { addressOf } from './fleet.ts';
import { measureBurst, type MeasuredCloud, type MeasureOptions, type Measurement } from './measure.ts';
import { judgeAims, renderArrivals, renderTable } from './report.ts';
import { openRig } from './rig.ts';
import { buildSubjects, subjects, type Subject } from './subjects.ts';

/** Beyond this, a measurement is given up. */
const LIMIT_SECONDS = 300;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '100,1000,5000' },
    rounds: { type: 'string', default: '3' },
    arrivals: { type: 'string', default: '300' },
    subjects: { type: 'string', default: subjects.map(({ name }) => name).join(',') },
    json: { type: 'string' },
  },
});
const sizes = values.nodes.split(',').map(Number);
const rounds = Number(values.rounds);
const arrivals = Number(values.arrivals);
const wanted = values.subjects.split(',');
if (![...sizes, rounds, arrivals + 1].every((number) => Number.isInteger(number) && number > 0)) {
  console.error(
    '--nodes takes positive whole numbers and commas, --rounds a positive whole number, --arrivals 0 or more',
  );
  process.exit(1);
}

buildSubjects();
const measurements: Measurement[] = [];
const trickles: ArrivalsMeasurement[] = [];
{
  await using rig = await openRig();
  const { client, cloud: memory, controlPlane, transport } = rig;
  const cloud: MeasuredCloud = {
    setInstances: (names) => {
      for (const { id } of memory.instances()) memory.deleteInstance(id);
      for (const [index, name] of names.entries()) {
        memory.createInstance({ name, addresses: [{ type: 'InternalIP', address: addressOf(index) }] });
      }
      memory.resetCalls();
    },
    calls: () => memory.calls().total,
  };
  console.log(`Kubernetes ${controlPlane.kubernetes}, ${cpus().length} processors, everything on one machine\n`);
  const optionsFor = async (subject: Subject, nodes: number): Promise<MeasureOptions> => ({
    subject,
    nodes,
    client,
    transport,
    cloud,
    surroundings: await rig.surroundings(),
    limitSeconds: LIMIT_SECONDS,
  });
  const chosen = subjects.filter(({ name }) => wanted.includes(name));
  for (const nodes of sizes) {
    for (let round = 1; round <= rounds; round++) {
      for (const subject of chosen) {
        if (nodes > subject.mostNodes) continue;
        const measurement = await measureBurst(await optionsFor(subject, nodes));
        measurements.push(measurement);
        const { seconds, nodesPerSecond } = measurement;
        console.log(
          `${nodes} nodes, round ${round}, ${subject.name}: ${seconds.toFixed(2)} s, ${nodesPerSecond.toFixed(0)} nodes/s`,
        );
      }
    }
  }
  for (const subject of arrivals === 0 ? [] : chosen.filter(({ usesCloud }) => usesCloud)) {
    trickles.push(await measureArrivals(await optionsFor(subject, arrivals)));
    console.log(`${arrivals} arrivals, ${subject.name}: done`);
  }
}
console.log(`\n${renderTable(measurements)}\n`);
if (trickles.length > 0) console.log(`${renderArrivals(trickles)}\n`);
const { lines, missed } = judgeAims(measurements, trickles);
console.log(lines.join('\n'));
if (values.json) writeFileSync(values.json, JSON.stringify({ burst: measurements, arrivals: trickles }, undefined, 2));
process.exitCode = missed === 0 ? 0 : 1;
