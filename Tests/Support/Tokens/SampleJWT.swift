package import RTMAccessToken

/// Keys of an identity provider that is none, and JWTs that they sign. The private keys are there for tests
/// and nothing else.
package enum SampleJWT {
    /// HS256, with the name `h`.
    package static let secretJWK = #"""
        {"kty":"oct","alg":"HS256","kid":"h","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}
        """#
    /// The public part of `rsaKey`, with the name `r`.
    package static let rsaJWK = #"""
        {"kty":"RSA","alg":"RS256","use":"sig","kid":"r","n":"3alEBkf9K5hlBy3fQupzc-bjkP0PT_NpZH9U\#
        2fW7TQyg39NEjB3oq0z1k2ovyWJt5PksraRA5mI8QOcAImmVXXLRKirKFjZFnNHJW1ClTPPdiCVP5rvFAl4lggkCJh\#
        7CwGmnrRsyKiOY1SGOF-NBCR2VfnU4alcm9fhtkx9wkPsl0dsDtUs2yGvbgrEMmy-6qLhMUJONYlkrW93riCyV2Jhu\#
        QHHV3v7DfnXKksd9fdwzYTr3dsETKm8HdJGhowVFbWWvHgSXDoQFUdP7B5Cc-znqaTLmxu5xTP1tTMvlGsPKoQDTdC\#
        i09Jt-_32IVX_1YO0VTE8uTdnsFRCZoma9YQ","e":"AQAB"}
        """#
    /// The public part of `otherRSAKey`, with the name `r2`.
    package static let otherRSAJWK = #"""
        {"kty":"RSA","alg":"RS256","use":"sig","kid":"r2","n":"xQdTc6GYvPcmv96PeMceoxnuXynDVyE8xre\#
        2LVqluyxlvMLpOuoaMQ63L4WIkvRPvaDfc0zbL_1Y1U6OHuthY4RoyJPFFb15ClpGysUleOppCuoW0R57pnrXuXd1J\#
        msBeu83W61e2rerOHmm9ycE1vCWWU2wWf-ZkZUw8eI6qW643a0c40079soTEmrddt6E_60c1VYMZ5xrTZSVkjjFX4m\#
        R92CBkPq3bZ4XGz44sLNnEdHB-K9IL2adVUR_LYWDYBWlpSDtP3laId2U-HlQ-qvnABaQpBCCRnfF-EzCQA-q96IZP\#
        yEG9J8mQdEWPElxrcLxjgBv63mmthoMnMsliQ","e":"AQAB"}
        """#
    /// A key of RSA of 1024 bits.
    package static let weakJWK = #"""
        {"kty":"RSA","alg":"RS256","use":"sig","kid":"weak","n":"yVqee24NQG_l45sgiMLM0jcNcMmisJBze\#
        nopBffWro2Q6a9g5AAY5mNstX8BaV_V_zkQm06fY3-dyNh1mk4iPM4wdQnCl67OiTlnfNs3HKdJGH3JSXm6PkhSzkG\#
        PRmiZHV1Ma_FH6GtXEnY9rBoawkybvzdi0IYNxqC93fMrjXU","e":"AQAB"}
        """#
    /// The public part of `curveKey`, with the name `e`.
    package static let curveJWK = #"""
        {"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"e","x":"Fj8dbKzJS99q6heStu1NKkS\#
        d446PrTKs3qQZj9F0uwE","y":"Nh_igyhDhKym_alApQuK-NIfSG3R3sVK04U3WcYEEXI"}
        """#
    package static let rsaPublicKey = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3alEBkf9K5hlBy3fQupz
        c+bjkP0PT/NpZH9U2fW7TQyg39NEjB3oq0z1k2ovyWJt5PksraRA5mI8QOcAImmV
        XXLRKirKFjZFnNHJW1ClTPPdiCVP5rvFAl4lggkCJh7CwGmnrRsyKiOY1SGOF+NB
        CR2VfnU4alcm9fhtkx9wkPsl0dsDtUs2yGvbgrEMmy+6qLhMUJONYlkrW93riCyV
        2JhuQHHV3v7DfnXKksd9fdwzYTr3dsETKm8HdJGhowVFbWWvHgSXDoQFUdP7B5Cc
        +znqaTLmxu5xTP1tTMvlGsPKoQDTdCi09Jt+/32IVX/1YO0VTE8uTdnsFRCZoma9
        YQIDAQAB
        -----END PUBLIC KEY-----
        """
    package static let curvePublicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFj8dbKzJS99q6heStu1NKkSd446P
        rTKs3qQZj9F0uwE2H+KDKEOErKb9qUClC4r40h9IbdHexUrThTdZxgQRcg==
        -----END PUBLIC KEY-----
        """
    package static let rsaKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvwIBADANBgkqhkiG9w0BAQEFAASCBKkwggSlAgEAAoIBAQDdqUQGR/0rmGUH
        Ld9C6nNz5uOQ/Q9P82lkf1TZ9btNDKDf00SMHeirTPWTai/JYm3k+SytpEDmYjxA
        5wAiaZVdctEqKsoWNkWc0clbUKVM892IJU/mu8UCXiWCCQImHsLAaaetGzIqI5jV
        IY4X40EJHZV+dThqVyb1+G2TH3CQ+yXR2wO1SzbIa9uCsQybL7qouExQk41iWStb
        3euILJXYmG5AcdXe/sN+dcqSx3193DNhOvd2wRMqbwd0kaGjBUVtZa8eBJcOhAVR
        0/sHkJz7OeppMubG7nFM/W1My+Uaw8qhANN0KLT0m37/fYhVf/Vg7RVMTy5N2ewV
        EJmiZr1hAgMBAAECggEARNeHGvRMurdv2RT0HBI4nSx+TM9rbAdLGj05mx/odfuQ
        EzPIPEQluN4D/y6hfMgnHVAOAjfbODIWSIn1zro/+2/nalMzxEZCxHubL9MSI54x
        lVERSbXTb/LRb1tg4Xn4Pk4SF380y0WW98qeGOkpj60yer3pMY2zufzX+zNugHgL
        res4IkzRTceXDPq48aaR6eXfHwO2U6ECjHZYwUPIE521TNrD4zs8FYAS/gRWeeDm
        xv74lr15Np7bLuLz972FIrlV0ui+qCaQRSg6IouG9IlhD5QhGY2LhVvPTdDmwEyq
        sUAtDd9CJ/MPOHycVeddx9R95gsHYjZ49+P0yZ6uCQKBgQD2vyrV9cgiokMXIzcn
        PPyC8DcBtdMrr7sqddj29MnYLOcfQpTB10YKSwf+Po6dNR1POyalv3OGX+Y/XuPW
        F2ZJFLddH2PX5fVy6ZupguN+Lihf5qlFz2jZ6AI4ahMMT8IIMEujmaCO7KaTI9Ix
        8YzE3h/CkUsyTZIaUxgrAlRvhwKBgQDl+UVFMsjJm6VZIYxI+eOVSmFVAeaTKQds
        xM3GkpLyGcw2bvvVS1LOEfIoBFbN188B1SjgOKxO/BabSYvZv8X272CPXoK+FzW+
        wirLSGJxLp1OU+K+WgUP7LmLWOWDusoUXs/SbaIITuC7hC7i8uIQJZmooJdmA0aY
        2mJTPLEV1wKBgQDFUOo4X2vEBm4QOqEIR8TGEMJsI7LS5JyPv93Y3rfqnz3TybKb
        sELaSFYEApKZNLhTe8HUGd2QP3AojQE1W1D4cBCR72AwbjxxwE4yp/C0HsU6q4IB
        yXLXjqj35BuHZOCNG9Hg6iFzKdurHqIgPkGLzPUo6ndvqoiDdJ+HBT3wUQKBgQCY
        XRpDym21BOX7s3paLxVVJ75sr6GwBhLhQVKEKUAqHmVp+wXmPs1RshoZ4SYRotWH
        hU5bn7Cpc+MWZxe84I2sGNSEqD0+6+mzxLjNjduK2TNnXbRwIPwRnOkhJXiKWgrg
        jCBsbi5YCsph8iWOPxT/VaoESsGD2M/BHY7fTuqUaQKBgQC36yvq69UNrdk62wri
        pIIdzgKOsSwqsY0l6P7yTt7bUDzW4RLF4HiE2BZ1wMojnmAbDcQ0UqRwtLi5MnJ0
        Wcu+aKN7Hvs1Etf5PdqPv7v9bkKUrAZWzbIRe2lhPoM39SqVEeQY3KBsEt9uGJIn
        fsBr4qC3XL564qdCD2eUoJDLXg==
        -----END PRIVATE KEY-----
        """
    package static let otherRSAKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDFB1NzoZi89ya/
        3o94xx6jGe5fKcNXITzGt7YtWqW7LGW8wuk66hoxDrcvhYiS9E+9oN9zTNsv/VjV
        To4e62FjhGjIk8UVvXkKWkbKxSV46mkK6hbRHnumete5d3UmawF67zdbrV7at6s4
        eab3JwTW8JZZTbBZ/5mRlTDx4jqpbrjdrRzjTTv2yhMSat123oT/rRzVVgxnnGtN
        lJWSOMVfiZH3YIGQ+rdtnhcbPjiws2cR0cH4r0gvZp1VRH8thYNgFaWlIO0/eVoh
        3ZT4eVD6q+cAFpCkEIJGd8X4TMJAD6r3ohk/IQb0nyZB0RY8SXGtwvGOAG/reaa2
        GgycyyWJAgMBAAECggEAHeRxpc5zlN/Ocje6/rD/FfG+N5PnfhWd2exPaGwjTtV6
        jfvoVLblyGGaK0yQHvOQEY4RuLWFX6+JRbuIVmqRuP6Cw0OgGB9J+OcfbG4itEik
        LTK8yXddfTGP/yR/kpeTfupCNNeF15scEBJs4Xx7AH054kymH9FmpC7FYT1YdxIA
        NWVBC7mj15jzwgGP367lEPQqgiNycDRS1Q4l0d1ExT4FGtkbhlnW6MGO7/gN2+mc
        ApDjpLjhG4AwTUAWydCaaHm/lV5Ext7ZiICkVjHo+vJ9yYboKPvBXjqZQpCbfioX
        lQfEYd0c82Ph7gQWe8rG6Po4PozP8znBu8pE7IdxHQKBgQDi5zhbM6u0MKZ5toNI
        u6xZxpRh0eyGC0vDQGdQK/6vnetBtYj7m/zNQDbo1hbxWZ/W9L9g6TfohKfpCq90
        B/bsGbsJRlZbCrlQZ9uF0lXpS0pqvMHaC81Ai1E/Hs3ND9XoF7bh3oXLkwwb/kT6
        Bec+qV/rlXSv16lLunO7omcdSwKBgQDeS2H50ISGYKaQTBZ+ols3Mv0XpG7+emtN
        q6ykvT+n2yOLRaw1JuEzTv2TUATO5c3rgpFvGjcJdQD7Q4sUG+rpvVn3M6tWKTmn
        wEkmbaF05ZdhVNi5lY+9x4KB4FJ926iBKnJZtRGYNgPhQHulKZtDAx8zXkut82Fp
        5uxoBtEn+wKBgQDP3xR6OTQsuAVLrDFKCOU0ugBmPXN6ug6GqhH8GNITAZHteOot
        2BIZ16J2XOxX38vXmhFaL07Q7fcGQIvMuR813bzEGnQyo/hx+TPbvX6HZDqg3pyZ
        rgY0A25DbW0NWFyXbGJXOw1IG0cUvjVi+NWJSpJduWZVUjX+8qnkVDwzUQKBgQC/
        fGQrk8l1D/CrQD/oWecFR7DpGsZaBA5G2+leB3+8EnMt15ieOJ2pWxPoP/fEWgTm
        KJUrBYP/a4Cq8OXvLpVPP8MtxJ6FHAIEVQkuRyXb0qJyP2ppg0JNEn2Dbz7gF8Wx
        bmUOjYFYgr8Y3Dkmbw7FzPylfUbn001IsplWivjE3QKBgCksKGadmWUcUKjr0lGG
        FDRB5ARTA6yH6OMeheaFjWuNeNiM2Ju1Zo9INPURtkPpyZC0SY9OblRo7D1LmT0F
        FBj/7glWOzMIGi1DU8TU9YbsqFZcpmCOKOKQmPuT87WuOBm26x7rdfBiABov6DDL
        0dL/s81dh1fZfWKrhIsvheM2
        -----END PRIVATE KEY-----
        """
    package static let curveKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9DDVJG+uonti/mNb
        VQnM3XTVhVf+OMo8lBIk4cre92mhRANCAAQWPx1srMlL32rqF5K27U0qRJ3jjo+t
        MqzepBmP0XS7ATYf4oMoQ4Sspv2pQKULivjSH0ht0d7FStOFN1nGBBFy
        -----END PRIVATE KEY-----
        """

    /// A JWKS document.
    package static func keys(_ keys: String...) -> String {
        #"{"keys":["# + keys.joined(separator: ",") + "]}"
    }

    package static func signing(_ algorithm: JWTAlgorithm) throws -> JWTSigningKey {
        switch algorithm {
        case .hs256: try JWTSigningKey(secretJWK, id: nil)
        case .rs256: try JWTSigningKey(rsaKey, id: "r")
        case .es256: try JWTSigningKey(curveKey, id: "e")
        }
    }

    package static let issuer = "https://issuer.example/"

    /// Claims for a user of `SampleApp`, which are issued ten minutes before their end.
    ///
    /// - Parameter endsAt: seconds since 1970 (UTC).
    package static func claims(for user: String, endsAt: UInt64) -> JWTClaims {
        var claims = JWTClaims()
        claims.subject = user
        claims.issuer = issuer
        claims.audience = [SampleApp.id]
        claims.expiresAt = endsAt * 1000
        claims.issuedAt = (endsAt - 600) * 1000
        return claims
    }
}
