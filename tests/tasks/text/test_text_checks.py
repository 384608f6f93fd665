"""The checks of running text."""

from regard.tasks.findings import Finding
from regard.tasks.text.checks import text_checks


def test_quick_checks_skip_the_comparison_of_passages(monkeypatch):
    for module, name in (("documents", "document_findings"), ("documents", "passage_findings")):
        finding = Finding("splits", name, "ok", name)
        monkeypatch.setattr(f"regard.tasks.checks.{module}.{name}", lambda data, finding=finding: [finding])
    checks = {check.name: check for check in text_checks(lambda data: [finding(data)])}
    assert list(checks) == ["text", "splits", "sizes"]
    assert [each.name for each in checks["splits"].run(None)] == ["document_findings", "passage_findings"]
    assert [each.name for each in checks["splits"].quick(None)] == ["document_findings"]
