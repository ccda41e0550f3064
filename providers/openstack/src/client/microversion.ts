/** Microversions: `2.79`. The part behind the dot is a number of its own: 2.9 comes before 2.10. */

/** Below 0 where `a` comes first. */
export function compareMicroversions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}
