/** The Node that goes into what is shipped: not the one that runs, but the pinned package, whose binary is compared with its hash. */
import { createRequire } from 'node:module';

const { pinnedNode } = createRequire(import.meta.url)('../pinned-node.cjs') as {
  readonly pinnedNode: (root: string) => ShippedNode | undefined;
};

export interface ShippedNode {
  /** Of the package. */
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  readonly version: string;
}

/** `root`: where `node_modules` is. Throws where there is none for this platform, and for one that is not what it should be. */
export function shippedNode(root: string): ShippedNode {
  const node = pinnedNode(root);
  if (!node) throw new Error(`there is no pinned Node for ${process.arch}: add its package to package.json`);
  return node;
}
