/** The roles and bindings of the program as it is shipped, for whichever flags. */
import { programFlags } from '../options/program-options.ts';
import { planWork } from '../controllers/work-plan.ts';
import { programAccess, ruleOptionsOf } from './program-rules.ts';
import { OBJECT_NAME } from './object-name.ts';
import { rbacObjects, type RbacObject } from './rbac-objects.ts';

/** What `outrigger rbac` prints for these flags. */
export async function rolesForFlags(args: readonly string[], namespace: string): Promise<readonly RbacObject[]> {
  const options = ruleOptionsOf(programFlags.parse(args));
  const access = programAccess(options, await planWork({ environment: { workingDirectory: '/' }, options }));
  return rbacObjects(access, { namespace, name: OBJECT_NAME });
}
