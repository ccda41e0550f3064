import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectControllers, type ControllerName } from './controller-selection.ts';

const known: readonly ControllerName[] = [
  { name: 'cloud-node-controller', aliases: ['cloud-node'] },
  { name: 'service-lb-controller', aliases: ['service'] },
  { name: 'node-route-controller', aliases: ['route'] },
  { name: 'node-ipam-controller', aliases: ['nodeipam'], disabledByDefault: true },
];
const select = (...selection: string[]): string[] => selectControllers(known, selection).map(({ name }) => name);

test('* turns on all that are on by default', () => {
  assert.deepEqual(select('*'), ['cloud-node-controller', 'service-lb-controller', 'node-route-controller']);
});

test('names and aliases turn on and off, in any order', () => {
  assert.deepEqual(select('*', '-route'), ['cloud-node-controller', 'service-lb-controller']);
  assert.deepEqual(select('-node-route-controller', '*'), ['cloud-node-controller', 'service-lb-controller']);
  assert.deepEqual(select('*', 'nodeipam').length, 4);
  assert.deepEqual(select('service'), ['service-lb-controller']);
  assert.deepEqual(select(), []);
});

test('of two words about one controller the first wins, by whatever name', () => {
  assert.deepEqual(select('service', '-service-lb-controller'), ['service-lb-controller']);
  assert.deepEqual(select('-service', 'service-lb-controller'), []);
});

test('an unknown name is refused, with the list and the nearest one', () => {
  assert.throws(
    () => select('*', '-routes'),
    /--controllers: no controller "routes" \(did you mean "route"\?\); there are cloud-node-controller, service-lb-/u,
  );
  assert.throws(() => select('cloud-everything'), /no controller "cloud-everything"; there are/u);
});
