import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkCost, isCheaper, listCost } from './look-up-cost.ts';

const isListCheaper = (asked: number, inProject: number): boolean =>
  isCheaper(listCost(inProject, 1000), { requests: asked, items: asked });

test('one machine is read, whatever the project has', () => {
  for (const inProject of [1, 10, 10_000]) assert.equal(isListCheaper(1, inProject), false);
});

test('where the project is the cluster, it is listed', () => {
  for (const nodes of [2, 3, 100, 5_000]) assert.equal(isListCheaper(nodes, nodes), true, String(nodes));
});

test('a small cluster in a project of 10,000 is read server by server, a large one is listed', () => {
  for (const nodes of [5, 50, 100]) assert.equal(isListCheaper(nodes, 10_000), false, String(nodes));
  for (const nodes of [150, 500, 5_000]) assert.equal(isListCheaper(nodes, 10_000), true, String(nodes));
});

test('ports are asked for in chunks until there are as many as the project has', () => {
  const isListed = (servers: number, inProject: number): boolean =>
    isCheaper(listCost(inProject, 1000), chunkCost(servers, 50));
  assert.equal(isListed(500, 10_000), false);
  assert.equal(isListed(5_000, 10_000), true);
  assert.equal(isListed(50, 50), false);
  assert.equal(isListed(500, 500), true);
});

test('a full last page is followed by an empty one', () => {
  assert.equal(listCost(0, 1000).requests, 1);
  assert.equal(listCost(999, 1000).requests, 1);
  assert.equal(listCost(1000, 1000).requests, 2);
});
