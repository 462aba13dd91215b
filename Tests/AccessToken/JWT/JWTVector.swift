import RTMAccessToken
import RTMTokenTestSupport

/// JWTs that another library made (joserfc 1.6.5), signed with the keys of `SampleJWT`. All have the same
/// claims:
///
///     {"sub": "anna", "iss": "https://issuer.example/",
///      "aud": ["970CA35de60c44645bbae8a215061b33", "other"],
///      "iat": 1699999400, "nbf": 1699999400, "exp": 1700000000,
///      "rtm": {"permissions": {"messageChannels": {"read": ["news"], "write": ["lobby"]},
///                              "users": {"write": ["bert"]}},
///              "join": ["stage", "hall"], "publishData": ["stage"]},
///      "email": "a@b.example"}
enum JWTVector {
    static let all: [(algorithm: JWTAlgorithm, text: String)] = [
        (.hs256, hs256), (.rs256, rs256), (.es256, es256),
    ]

    static let hs256 = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiIsImtpZCI6ImgifQ.eyJzdWIiOiJhbm5hIiwiaXNzIjoiaHR0cHM6Ly9\
        pc3N1ZXIuZXhhbXBsZS8iLCJhdWQiOlsiOTcwQ0EzNWRlNjBjNDQ2NDViYmFlOGEyMTUwNjFiMzMiLCJvdGhlciJdL\
        CJpYXQiOjE2OTk5OTk0MDAsIm5iZiI6MTY5OTk5OTQwMCwiZXhwIjoxNzAwMDAwMDAwLCJydG0iOnsicGVybWlzc2l\
        vbnMiOnsibWVzc2FnZUNoYW5uZWxzIjp7InJlYWQiOlsibmV3cyJdLCJ3cml0ZSI6WyJsb2JieSJdfSwidXNlcnMiO\
        nsid3JpdGUiOlsiYmVydCJdfX0sImpvaW4iOlsic3RhZ2UiLCJoYWxsIl0sInB1Ymxpc2hEYXRhIjpbInN0YWdlIl1\
        9LCJlbWFpbCI6ImFAYi5leGFtcGxlIn0.jHkTQhUbnDjBXwsfOVQf0cOpxcVI2xTTA6gRpoEjJqQ
        """

    static let rs256 = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.eyJzdWIiOiJhbm5hIiwiaXNzIjoiaHR0cHM6Ly9\
        pc3N1ZXIuZXhhbXBsZS8iLCJhdWQiOlsiOTcwQ0EzNWRlNjBjNDQ2NDViYmFlOGEyMTUwNjFiMzMiLCJvdGhlciJdL\
        CJpYXQiOjE2OTk5OTk0MDAsIm5iZiI6MTY5OTk5OTQwMCwiZXhwIjoxNzAwMDAwMDAwLCJydG0iOnsicGVybWlzc2l\
        vbnMiOnsibWVzc2FnZUNoYW5uZWxzIjp7InJlYWQiOlsibmV3cyJdLCJ3cml0ZSI6WyJsb2JieSJdfSwidXNlcnMiO\
        nsid3JpdGUiOlsiYmVydCJdfX0sImpvaW4iOlsic3RhZ2UiLCJoYWxsIl0sInB1Ymxpc2hEYXRhIjpbInN0YWdlIl1\
        9LCJlbWFpbCI6ImFAYi5leGFtcGxlIn0.oZfnq1ZxOl0qsqfQIzYOzobLfGEqxuHjw7aw1sERskxBGvKSMdSZJXHNK\
        yoI_aoci4SF5eyiSXxzxjhlYs_LXjDul_QuEb8nVxBFN_OZdO2a2IEmGIip6ACPuOXNpssfa7r0tB_x40IvmxGheYs\
        TgV0EAihmkKLIk9abssNBwVJifihwwCNAmPFNmOxSnLYiuR0yLR74BCWnJcmZnY-m8Phtc1guUx2B3Zuyg3PWVhkNK\
        CQBXm1fUr-I_jc1ncCkCgmTJNkSG0xDsRPNiv2fZWZilDOee_7MN1gUMDaq_Jb-FrcLR2nkvP3e78sj62KJQFeZtsx\
        7qWsfWmjFblGD7A
        """

    static let es256 = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiIsImtpZCI6ImUifQ.eyJzdWIiOiJhbm5hIiwiaXNzIjoiaHR0cHM6Ly9\
        pc3N1ZXIuZXhhbXBsZS8iLCJhdWQiOlsiOTcwQ0EzNWRlNjBjNDQ2NDViYmFlOGEyMTUwNjFiMzMiLCJvdGhlciJdL\
        CJpYXQiOjE2OTk5OTk0MDAsIm5iZiI6MTY5OTk5OTQwMCwiZXhwIjoxNzAwMDAwMDAwLCJydG0iOnsicGVybWlzc2l\
        vbnMiOnsibWVzc2FnZUNoYW5uZWxzIjp7InJlYWQiOlsibmV3cyJdLCJ3cml0ZSI6WyJsb2JieSJdfSwidXNlcnMiO\
        nsid3JpdGUiOlsiYmVydCJdfX0sImpvaW4iOlsic3RhZ2UiLCJoYWxsIl0sInB1Ymxpc2hEYXRhIjpbInN0YWdlIl1\
        9LCJlbWFpbCI6ImFAYi5leGFtcGxlIn0.kQDeglXnmWztqpFLrBoHa4jzGI7zVeuX-fkAvjnRQfBLcxy6Lms2AapSd\
        t6DnHMIki6BFRSoqjkLIxS33KHcWA
        """
}
