"""A result of one's own, with a field that it says anew and one that it adds."""

from mcp.types import CallToolResult


class Job(CallToolResult):
    isError: bool = False
    job_id: str = ""


job = Job(content=[], job_id="1", isError=True)
dumped = job.model_dump(by_alias=True, exclude_none=True)
# Each result says of which kind it is since 2.x.
print(sorted(dumped.keys() - {"resultType"}), job.isError, dumped["isError"])
print(Job.model_validate({"content": [], "isError": True, "job_id": "2"}).job_id)
