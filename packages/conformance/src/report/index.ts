/** What a report is made into: text for a terminal, JUnit XML, an HTML page, the tree that testgrid reads, and a comparison of providers. */
export { renderComparison, type Comparison } from './comparison.ts';
export { runComparison } from './compare-command.ts';
export { renderConsole } from './console.ts';
export { renderHtml } from './html-report.ts';
export { renderJUnit } from './junit.ts';
export { writeReports, type WrittenReports } from './write-reports.ts';
