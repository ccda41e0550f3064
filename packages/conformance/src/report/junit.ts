/**
 * A report as JUnit XML. There is no one schema of it: what is written here keeps the rules of both that are published, Ant's
 * (https://github.com/windyroad/JUnit-Schema) and Jenkins' (junit-10.xsd of its xUnit plugin), and is what testgrid reads
 * (https://github.com/GoogleCloudPlatform/testgrid/blob/main/metadata/junit/junit.go): a message is an element's text there, not its
 * attribute. Names hold nothing of the subject or the run, so that runs can be compared by them.
 */
import { XMLBuilder } from 'fast-xml-parser';
import type { ConformanceReport, TestResult } from '../conformance-report.ts';
import { printable, printableLine } from './printable-text.ts';
import { durationSeconds, tallyOf } from './tally.ts';

const builder = new XMLBuilder({
  attributeNamePrefix: '@',
  format: true,
  ignoreAttributes: false,
  suppressBooleanAttributes: false,
  suppressEmptyNode: true,
});

/** The whole document, with its declaration. An unverifiable result is `skipped`, with a message that begins so; a stopped run is an error. */
export function renderJUnit(report: ConformanceReport): string {
  const { passed, failed, skipped, unverifiable } = tallyOf(report.results);
  // What is no test's own outcome is an error, which no reader takes for a failure of the subject or for nothing.
  const errors = report.stopped === undefined ? 0 : 1;
  const counts = {
    '@tests': passed + failed + skipped + unverifiable + errors,
    '@failures': failed,
    '@errors': errors,
    '@time': durationSeconds(report).toFixed(3),
  };
  const name = `${report.suite}-conformance`;
  const text = builder.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      testsuite: {
        '@name': name,
        '@package': name,
        '@id': 0,
        // Ant's schema: UTC, without a zone.
        '@timestamp': new Date(report.started).toISOString().slice(0, 19),
        '@hostname': 'localhost',
        ...counts,
        '@skipped': skipped + unverifiable,
        properties: { property: properties(report) },
        testcase: [
          ...report.results.map((result) => testCase(report.suite, result)),
          ...(report.stopped === undefined ? [] : [stoppedCase(report.suite, printableLine(report.stopped))]),
        ],
        'system-out': '',
        'system-err': '',
      },
    },
  });
  return text.endsWith('\n') ? text : `${text}\n`;
}

function properties({ subject }: ConformanceReport): readonly object[] {
  const values = { subject: subject.name, ...(subject.version !== undefined && { version: subject.version }) };
  return Object.entries(values).map(([name, value]) => ({ '@name': name, '@value': printableLine(value) }));
}

function testCase(suite: string, result: TestResult): object {
  const { outcome } = result;
  return {
    '@name': printableLine(result.name),
    '@classname': `${suite}.${printableLine(result.feature)}`,
    '@time': result.durationSeconds.toFixed(3),
    ...(outcome === 'failed' && { failure: { '@type': outcome, ...told(result) } }),
    // Ant's schema gives it no type: what is unverifiable says so in its message.
    ...((outcome === 'skipped' || outcome === 'unverifiable') && { skipped: told(result) }),
  };
}

function stoppedCase(suite: string, stopped: string): object {
  return {
    '@name': 'run / all tests come to an end',
    '@classname': `${suite}.run`,
    '@time': '0.000',
    error: { '@type': 'stopped', '@message': stopped, '#text': stopped },
  };
}

function told({ outcome, reason = outcome, details, source }: TestResult): object {
  const message = outcome === 'unverifiable' ? `unverifiable: ${reason}` : reason;
  const text = [message, ...(details === undefined ? [] : [details]), `Promised in ${source}`];
  return { '@message': printableLine(message), '#text': printable(text.join('\n')) };
}
