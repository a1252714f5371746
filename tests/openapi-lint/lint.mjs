// Lints one OpenAPI document with Redocly's recommended rules and prints what is wrong with it.
// usage: node lint.mjs FILE
import core from '@redocly/openapi-core';

const { createConfig, lint, formatProblems, getTotals } = core;

const rules = {
  // The published API document names no licence for its description.
  'info-license': 'off',
};

const config = await createConfig({ extends: ['recommended'], rules });
const problems = await lint({ ref: process.argv[2], config });
const totals = getTotals(problems);
formatProblems(problems, { format: 'stylish', totals, version: '' });
// Warnings count: what is not worth mending is switched off above, with its reason.
process.exit(totals.errors + totals.warnings > 0 ? 1 : 0);
