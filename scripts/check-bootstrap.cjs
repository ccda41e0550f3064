// Runs on the machine's own Node, whichever that is: says in one line what is too old, before npm says it in fifty.
'use strict';
const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(`outrigger: Node 20 or later is needed to install the pinned Node; this is ${process.version}`);
  process.exit(1);
}
